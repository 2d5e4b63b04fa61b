//! Mistakes in persona files: the persona works without what is wrong, and people are told where it is.

use kernel::persona::file;
use serde_json::json;

use crate::support::command::{invoke, text};
use crate::support::team::{Backing, Wanted, on_one_store};

on_one_store!(a_bad_feed_and_an_unknown_tool_stop_nobody_and_status_names_their_lines);

const VINCE: &str = "---\nname: Vince\nrole: data\ntools: [ask_agent, web_serch]\nfeeds:\n  - kind: ledger\n  - kind: rss\n    name: news\n    url: nowhere\n---\nYou count.\n";

async fn a_bad_feed_and_an_unknown_tool_stop_nobody_and_status_names_their_lines(backing: Backing) {
    let wanted = Wanted::on(backing).personas(|personas| {
        let vince = file::parse("vince", VINCE.as_bytes()).unwrap();
        personas.iter_mut().filter(|persona| persona.slug == vince.slug).for_each(|persona| *persona = vince.clone());
    });
    let mut team = wanted.without_app().start().await;
    std::fs::create_dir_all(&team.config.personas).unwrap();
    std::fs::write(team.config.personas.join("vince.md"), VINCE).unwrap();
    team.start_app().await;
    team.say("general", "vince, what did we spend today?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    assert!(answer.author == "Vince" && answer.text.contains('$'), "{answer:?}");
    let status = invoke(&team, "general", "status", json!([])).await;
    let status = text(&status);
    let file = team.config.personas.join("vince.md");
    for told in [
        format!(
            "{}, line 7: feed \"news\": url must be an address that begins with http:// or https://; Vince works without it",
            file.display()
        ),
        format!("{}, line 4: there is no tool \"web_serch\"; did you mean web_search?; Vince works without it", file.display()),
    ] {
        assert!(status.replace(['\\', '`'], "").contains(&told), "{told}\n{status}");
    }
}
