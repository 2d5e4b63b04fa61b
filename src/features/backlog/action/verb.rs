/// Verbs of work, in the imperative.
const VERBS: &str = "\
    accept add address adjust agree align analyse analyze announce answer apply approve archive arrange ask assess assign audit \
    automate avoid back backfill backport balance benchmark block book bring build bump buy calculate call cancel cap capture change \
    chase check choose clarify clean clear close collect compare complete configure confirm connect consolidate contact continue \
    convert coordinate copy correct count cover create cut debug decide define delete deliver deploy deprecate describe design \
    determine develop diagnose disable discuss document draft drop enable ensure escalate establish estimate evaluate examine expand \
    explain explore export extend extract file fill finalise finalize find finish fix follow gather generate get give group hire hold \
    identify implement import improve increase inform inspect install instrument integrate introduce invest investigate invite isolate \
    keep label launch learn limit link list load log look lower make map mark measure meet merge migrate mitigate monitor move name \
    negotiate note notify open optimise optimize order organise organize pause pay pick pin plan post prepare present prioritise \
    prioritize profile propose prototype provide prune publish pull push put query raise read rebase rebuild recheck record recover \
    reduce refactor refresh reject release remind remove rename reopen repair replace reply report reproduce request rerun research \
    reset resolve respond restart restore resume retire retry revert review revise rewrite roll rotate run save scale schedule search \
    secure select send separate set settle share ship show sign simplify sketch solve sort specify split start stop store study submit \
    suggest summarise summarize survey switch sync tag take talk tell test tidy trace track train translate triage trim try tune turn \
    unblock update upgrade use validate verify visit watch work write";

/// After a word that is both noun and verb, these show that it is the noun: "Test coverage" passes, "Review of the plan" and "Plan is late"
/// do not.
const BEHIND_NOUNS: &[&str] = &["of", "is", "are", "was", "were", "has", "have", "had", "should", "must", "needs", "will"];

/// Checks that an action begins with a verb.
///
/// # Errors
/// The reason, with a corrected example if possible.
pub(super) fn check_begins_with_verb(what: &str) -> Result<(), String> {
    let lower = what.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let Some(first) = words.next() else { return Err("does not say what to do".to_owned()) };
    let second = words.next();
    // In "double-check" and "re-run" the verb follows the hyphen.
    let verb = if matches!(first, "re" | "double" | "cross" | "quickly" | "carefully" | "then") { second.unwrap_or(first) } else { first };
    if matches!(verb, "we" | "i" | "you" | "they" | "somebody" | "someone" | "let's") {
        return Err(format!("begins with \"{verb}\". Begin with a verb, such as \"Fix the login\""));
    }
    if let Some(stem) = verb.strip_suffix("ing").and_then(find_verb) {
        return Err(format!("begins with \"{verb}\". Write \"{stem} …\""));
    }
    if !is_verb(verb) {
        return Err(format!("begins with \"{verb}\", which is not a verb. Begin with one, such as \"Fix the login\""));
    }
    match second.filter(|second| BEHIND_NOUNS.contains(second)) {
        Some(second) => Err(format!("\"{verb} {second}\" is not a verb. Begin with one, such as \"Fix the login\"")),
        None => Ok(()),
    }
}

fn is_verb(word: &str) -> bool {
    VERBS.split(' ').any(|verb| verb == word)
}

/// The verb of "fix-ing", "writ-ing", "plann-ing".
fn find_verb(stem: &str) -> Option<String> {
    let doubled = stem.char_indices().next_back().map(|(last, _)| stem[..last].to_owned());
    [Some(stem.to_owned()), Some(format!("{stem}e")), doubled].into_iter().flatten().find(|verb| is_verb(verb))
}
