//! The program `espeak-ng` on this machine.

use kernel::llm::settings::SpeechSetting;

use super::stage::{CHAPTERS, STANDUP, chapters, download, hold_standup, is_play, wait_for_sound, wanted};
use crate::support::command::press;
use crate::support::database::count;
use crate::support::skip::missing;
use crate::support::team::Backing;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standup_is_spoken_on_this_machine_for_nothing() {
    let search = std::env::var_os("PATH").unwrap_or_default();
    if kernel::program::find_program("espeak-ng", &search).is_none() {
        return missing("espeak-ng", "it is not installed");
    }
    let team = wanted(Backing::Sqlite).configure(|config| config.models.speech = SpeechSetting::Auto).start().await;
    let report = hold_standup(&team).await;
    press(&team, STANDUP, &report, is_play).await;
    let file = download(&wait_for_sound(&team, &report).await).await;
    let found = chapters(&file);
    assert_eq!(found.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>(), CHAPTERS);
    assert!(found.last().is_some_and(|(start, _)| start.as_str() > "00:00:10"), "it takes its time: {found:?}");
    assert_eq!((team.model.spoken().len(), count(&team, "SELECT COUNT(*) FROM ledger").await), (0, 0));
}
