//! Which files a prompt shows, and how much of them.

use super::*;

#[test]
fn a_busy_channel_with_large_files_stays_within_its_budget() {
    let transcript: Vec<_> = (0..500).map(|index| spoken(person("Ann"), &format!("line {index} {}", "word ".repeat(400)))).collect();
    let large = about(&[file("large.md", &"The queue costs much.\n\nNothing here.\n\n".repeat(20_000))]);
    let long = spoken(person("Ann"), &"word ".repeat(4000));
    let feeds = [FeedReport { feed: "git".into(), outcome: Ok(reading((0..1000).map(|_| commit(&"x ".repeat(200))).collect())) }];
    let context = built(|input| {
        (input.transcript, input.files, input.feeds) = (&transcript, &large, &feeds);
        (input.replied_to, input.starter) = (Some(&long), Some(&long));
    });
    let budget = ContextBudget::default();
    let tokens = [budget.transcript, 2 * budget.referred, budget.files, budget.feeds];
    for ((name, chars), tokens) in context.sections[2..6].iter().zip(tokens) {
        assert!((1..=tokens * 4 + 200).contains(chars), "{name}: {chars} characters");
    }
    let text = message(&context);
    assert!(text.contains("line 499 ") && !text.contains("line 400 "), "the newest lines are kept");
    assert!(text.contains("The queue costs much."));
    assert!(text.len() < 23_000, "{} bytes", text.len());
}

#[test]
fn a_large_file_that_the_question_does_not_name_is_shown_from_its_beginning() {
    let large = about(&[file("large.md", &format!("This is the beginning.\n{}", "word ".repeat(20_000)))]);
    let context = built(|input| (input.files, input.question.text) = (&large, "what do you make of this?"));
    assert!(message(&context).contains("| beginning of large.md>>\nThis is the beginning."), "{}", message(&context));
    assert!(message(&context).contains("characters more)"));
    assert!(message(&context).contains("- large.md, from Ann, 22:45: 7 of 101 kB below\n"), "{}", message(&context));
    assert_eq!(context.prompt.remarks, ["<small>Read 7 of 101 kB of large.md.</small>"]);
}

#[test]
fn files_are_in_full_as_far_as_they_fit_and_the_rest_is_named() {
    let files = Files {
        near: vec![
            file("costs.md", &format!("The queue costs 4 dollars.\n\n{}", "Other.\n\n".repeat(300))),
            file("x.png", ""),
            file("voice-message.ogg", ""),
        ],
        ..about(&[file("plan.md", "Less.\n"), refused("big.txt", "big.txt is too large: 5 MiB of at most 1 MiB.")])
    };
    let context = built(|input| input.files = &files);
    insta::assert_snapshot!(message(&context), @r"
    Marker of this message: 7f3a9c20d1e8
    It is Saturday, 21 November 2026, 22:50 UTC. Place: #general.

    <<data 7f3a9c20d1e8 | files of this conversation>>
    - plan.md, from Ann, 22:45: whole, below
    - big.txt, from Ann, 22:45: could not be read. big.txt is too large: 5 MiB of at most 1 MiB.
    - costs.md, from Ann, 22:45: 1 of 3 kB below
    - a picture: x.png, from Ann, 22:45, not seen
    - a voice message: voice-message.ogg, from Ann, 22:45, not heard
    <<end 7f3a9c20d1e8>>

    <<data 7f3a9c20d1e8 | file plan.md, whole, from Ann>>
    Less.
    <<end 7f3a9c20d1e8>>

    <<data 7f3a9c20d1e8 | part of costs.md, line 1>>
    The queue costs 4 dollars.
    <<end 7f3a9c20d1e8>>

    person Ann says to you (the files it is about stand above):

    what does the queue cost?
    ");
    insta::assert_snapshot!(context.prompt.remarks.join("\n"), @r"
    <small>big.txt is too large: 5 MiB of at most 1 MiB.</small>
    <small>Read 1 of 3 kB of costs.md.</small>
    ");
}

#[test]
fn ten_files_share_the_room() {
    let small: Vec<_> =
        (0..9).map(|number| file(&format!("{number}.md"), &format!("Part {number} begins. {}", "word ".repeat(20)))).collect();
    let files = about(&[&small[..], &[file("long.md", &"long ".repeat(50_000))]].concat());
    let context = built(|input| (input.files, input.question.text) = (&files, "what do you make of these?"));
    for number in 0..9 {
        assert!(
            message(&context).contains(&format!("file {number}.md, whole, from Ann>>\nPart {number} begins.")),
            "{}",
            message(&context)
        );
    }
    assert!(message(&context).contains("| beginning of long.md>>"), "{}", message(&context));
    assert_eq!(context.prompt.remarks, ["<small>Read 5 of 250 kB of long.md.</small>"]);
    let long: Vec<_> = (0..10).map(|number| file(&format!("{number}.md"), &"word ".repeat(2000))).collect();
    let (long, topic) = (about(&long), "what does the queue cost?");
    for (question, parts) in [("and these?", 10), (topic, 10)] {
        let context = built(|input| (input.files, input.question.text) = (&long, question));
        assert_eq!(message(&context).matches("| beginning of ").count(), parts, "{}", message(&context));
    }
}

#[test]
fn names_of_files_alone_bring_nothing_from_outside() {
    let files = Files { near: vec![file("x.png", "")], ..Files::default() };
    let context = built(|input| input.files = &files);
    assert!(message(&context).contains("- a picture: x.png, from Ann, 22:45, not seen") && !context.prompt.holds_outside);
}

#[test]
fn passages_of_documents_come_with_their_place_and_taint() {
    let passage = |place: &str, text: &str| Quote { place: place.into(), text: text.into() };
    let passages = [passage("rules.md, Weekends, line 7", "Dana is on call."), passage("big.md, line 1", &"word ".repeat(1000))];
    let context = built(|input| input.passages = &passages);
    let text = message(&context);
    assert!(text.contains("| part of rules.md, Weekends, line 7>>\nDana is on call.\n<<end"), "{text}");
    assert!(!text.contains("big.md") && context.prompt.holds_outside, "it does not fit: {text}");
}

#[test]
fn a_file_of_an_hour_ago_is_named_until_it_matters_again() {
    let roster = roster();
    let mut reader = roster.find(&"vince".into()).unwrap().clone();
    reader.tools = vec!["read_feed".into(), "read_document".into()];
    let prompt = |minutes: i64, in_thread: bool, question: &'static str| {
        let text = format!("name,seats\nHeron,12\n{}", "other,1\n".repeat(300));
        let sheet = File { at: now() - TimeDelta::minutes(minutes), ..file("seats.csv", &text) };
        let files = Files { focus: vec![sheet], in_thread, ..Files::default() };
        let context = built(|input| {
            (input.files, input.persona) = (&files, &reader);
            input.question.text = question;
        });
        message(&context).to_owned()
    };
    let named = "- seats.csv, from Ann, 21:50: not shown, `read_document` reads it";
    let text = prompt(60, false, "is the build green?");
    assert!(text.contains(named) && !text.contains("Heron"), "{text}");
    for (minutes, in_thread, question) in
        [(5, false, "is the build green?"), (60, true, "is the build green?"), (60, false, "how many seats does the Heron have?")]
    {
        let text = prompt(minutes, in_thread, question);
        assert!(text.contains("Heron,12"), "{minutes} {in_thread} {question}: {text}");
    }
}

#[test]
fn why_a_picture_is_not_seen_is_said_once() {
    let files = about(&[refused("plan.png", "I can't see pictures yet, so I skipped plan.png.")]);
    let said = spoken(Speaker::Persona("eliza".into()), "Nice.\n<small>I can't see pictures yet, so I skipped plan.png.</small>");
    // Another picture of this name has come since.
    let before = Spoken { at: now() - TimeDelta::hours(1), ..said.clone() };
    for (line, remarks) in [(said, 0), (before, 1)] {
        let context = built(|input| (input.files, input.transcript) = (&files, std::slice::from_ref(&line)));
        assert_eq!(context.prompt.remarks.len(), remarks);
    }
}
