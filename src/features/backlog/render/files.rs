//! The files of a result: with a message, and as a list.

use crate::features::backlog::model::{Artefact, ArtefactFacts, Evidence, WorkItem};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::OutboundFile;

/// What a message carries: Discord takes ten files and, without a boost, 10 MiB.
pub const FILES: usize = 10;
const BYTES: u64 = 8 * 1024 * 1024;

/// The most files that are named.
const NAMED: usize = 5;
const NAME: usize = 60;
/// The most lines of a diffstat.
const DIFFSTAT: usize = 12;

/// Adds the files that a message can carry. Returns a line for the others, with how to get them.
pub fn attach(to: &mut Vec<OutboundFile>, item: &WorkItem, files: &[Artefact]) -> String {
    let left = attach_some(to, files);
    if left.is_empty() {
        return String::new();
    }
    let mut names: Vec<_> = left.iter().take(NAMED).map(|facts| describe(facts)).collect();
    names.extend((left.len() > NAMED).then(|| format!("{} more", left.len() - NAMED)));
    let id = item.short_id();
    format!(
        "\nToo much for one message: {}. `teamroom backlog files {id} --out DIR` saves them; the backlog page has them, too.",
        names.join(", ")
    )
}

/// Adds the files that a message can carry, each under a name of its own, and returns the others.
pub fn attach_some<'a>(to: &mut Vec<OutboundFile>, files: &'a [Artefact]) -> Vec<&'a ArtefactFacts> {
    let mut left = Vec::new();
    let mut bytes: u64 = to.iter().map(|file| file.content.as_bytes().len() as u64).sum();
    for file in files {
        if to.len() < FILES && bytes + file.facts.bytes <= BYTES {
            bytes += file.facts.bytes;
            let mut added = file.to_file();
            added.name = distinct(&added.name, to);
            to.push(added);
        } else {
            left.push(&file.facts);
        }
    }
    left
}

/// "result.md", or "result-2.md" if there is one already.
fn distinct(name: &str, others: &[OutboundFile]) -> String {
    let (stem, end) = name.rsplit_once('.').map_or((name, String::new()), |(stem, end)| (stem, format!(".{end}")));
    let (mut distinct, mut number) = (name.to_owned(), 1);
    while others.iter().any(|other| other.name == distinct) {
        number += 1;
        distinct = format!("{stem}-{number}{end}");
    }
    distinct
}

/// The change of a repository with the command to merge it. Empty for other results.
pub fn how_to_merge(item: &WorkItem) -> String {
    let branch = item.evidence.iter().find_map(|found| match found {
        Evidence::Branch { repository, branch, diffstat, .. } => Some((repository, branch, diffstat)),
        _ => None,
    });
    let Some((repository, branch, diffstat)) = branch else { return String::new() };
    let lines: Vec<&str> = diffstat.lines().collect();
    let left_out = lines.len().saturating_sub(DIFFSTAT);
    let mut shown = String::new();
    if left_out > 0 {
        shown = format!("(the last {DIFFSTAT} of {} lines)\n", lines.len());
    }
    shown.push_str(&lines[left_out..].join("\n").replace('`', "'"));
    let repository = Medium::Chat.line_within(repository, NAME);
    format!("\n```\n{shown}\n```\nTo merge it in the repository {repository}: `git merge {branch}`")
}

/// One line for each file.
pub fn list_files(files: &[ArtefactFacts]) -> Vec<String> {
    files.iter().map(describe).collect()
}

fn describe(facts: &ArtefactFacts) -> String {
    format!("{} ({})", Medium::Chat.line_within(&facts.name, NAME), facts.size())
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn file(name: &str, bytes: usize) -> Artefact {
        let facts =
            ArtefactFacts { name: name.to_owned(), media_type: "text/plain".to_owned(), bytes: bytes as u64, sha256: String::new() };
        Artefact { facts, content: vec![b'x'; bytes] }
    }

    #[test]
    fn what_a_message_cannot_carry_is_named_with_how_to_get_it() {
        let mut carried = Vec::new();
        assert_eq!(attach(&mut carried, &sample::item(), &[file("docs/a.md", 10), file("b.md", 20)]), "");
        assert_eq!(carried.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["docs-a.md", "b.md"]);
        let large = [file("a.md", 10), file("large.csv", 9_000_000), file("b.md", 20)];
        let mut carried = Vec::new();
        let told = attach(&mut carried, &sample::item(), &large);
        assert_eq!(carried.len(), 2, "the small ones go along");
        assert_eq!(
            told,
            "\nToo much for one message: large.csv (9.0 MB). `teamroom backlog files a1b2c3 --out DIR` saves them; the backlog page has them, too."
        );
        let many: Vec<_> = (0..20).map(|number| file(&format!("{number}.md"), 1)).collect();
        assert!(attach(&mut Vec::new(), &sample::item(), &many).contains("14.md (1 byte), 5 more"));
    }
}
