//! What is written after an answer goes on with it, except where it may be for another persona or for nobody.

use super::*;

/// The decision, and the personas among which a model chooses: `vince / FollowUp ? vince kelly`.
fn after(persona: &'static str, change: impl Fn(&mut Case), text: &str) -> String {
    let case = Case::says(text).with(|case| {
        let mut personas = case.roster.personas().to_vec();
        for persona in &mut personas {
            let field: &[&str] = match persona.slug.as_str() {
                "vince" => &["costs", "metrics"],
                "eliza" => &["documents", "research"],
                _ => &[],
            };
            persona.expertise = field.iter().map(|word| (*word).to_owned()).collect();
        }
        case.roster = Roster::new(personas).expect("it is a roster");
        case.recent = RecentTalk { with: Some(persona.into()), is_told: true, ..RecentTalk::default() };
        change(case);
    });
    let decision = case.route();
    let among: Vec<&str> = decision.unsure.iter().chain(&decision.rival).map(PersonaSlug::as_str).collect();
    if among.is_empty() { case.told() } else { format!("{} ? {}", case.told(), among.join(" ")) }
}

#[test]
fn a_question_in_the_field_of_another_persona_may_be_for_that_one() {
    for (text, expected) in [
        ("what did the costs do in May?", "eliza / FollowUp ? eliza vince"),
        ("which documents are about costs?", "eliza / FollowUp"),
        ("and in June?", "eliza / FollowUp"),
        ("who's on call?", "eliza / FollowUp ? eliza kelly"),
        ("who wrote that?", "eliza / FollowUp"),
        ("kelly I need the list of May", "kelly / Named"),
        ("kelly, what did the costs do?", "kelly / Named"),
    ] {
        assert_eq!(after("eliza", |_| {}, text), expected, "{text}");
    }
    assert_eq!(after("vince", |_| {}, "what did the costs do in May?"), "vince / FollowUp");
    assert_eq!(after("kelly", |_| {}, "who's on call?"), "kelly / FollowUp");
}

#[test]
fn what_asks_nothing_after_an_answer_that_asked_nothing_may_be_for_nobody() {
    let aside = "great, as if we had nothing else to do";
    assert_eq!(after("vince", |_| {}, aside), "vince / FollowUp ? vince");
    assert_eq!(after("vince", |case| case.recent.is_told = false, aside), "vince / FollowUp", "it answers a question");
    assert_eq!(after("vince", |case| case.message.attachments.push(file("plan.md")), aside), "vince / FollowUp");
    assert_eq!(after("vince", |_| {}, "shorter please"), "vince / FollowUp");
    // Added to the question while its answer is being made.
    assert_eq!(after("vince", |case| case.recent.is_under_way = true, "just one sentence"), "vince / FollowUp");
}
