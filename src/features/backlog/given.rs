//! The files that a person gives as an answer.

use crate::features::backlog::model::Evidence;
use crate::features::backlog::verifier::sha256_of;
use kernel::chat::store::FileText;

/// Files with text, each under a name of its own that is safe as a path.
pub(super) fn name_files(files: &[FileText]) -> Vec<(String, &str)> {
    let mut named: Vec<(String, &str)> = Vec::new();
    for file in files {
        let Some(text) = &file.text else { continue };
        let safe = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
        let mut name: String = file.name.chars().map(safe).collect::<String>().trim_matches(['.', '-']).to_owned();
        if name.is_empty() || named.iter().any(|(known, _)| *known == name) {
            name = format!("{}-{name}", named.len() + 1);
        }
        named.push((name, text));
    }
    named
}

/// The evidence of files that `by` gave.
pub(super) fn describe_files(files: &[FileText], by: &str) -> Vec<Evidence> {
    let evidence = |(path, text): (String, &str)| Evidence::File {
        path,
        sha256: sha256_of(text.as_bytes()),
        bytes: text.len() as u64,
        form: format!("given by {by}"),
    };
    name_files(files).into_iter().map(evidence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_their_names_as_far_as_these_are_safe_and_differ() {
        let file = |name: &str, text: Option<&str>| FileText {
            id: "1".into(),
            message: "m".into(),
            channel: "c".into(),
            name: name.to_owned(),
            size: 1,
            text: text.map(str::to_owned),
            note: None,
            by: "Ann".to_owned(),
            at: chrono::DateTime::UNIX_EPOCH,
        };
        let files = [file("a b.txt", Some("1")), file("../x.md", Some("2")), file("x.md", Some("3")), file("p.pdf", None)];
        let named: Vec<String> = name_files(&files).into_iter().map(|(name, _)| name).collect();
        assert_eq!(named, ["a-b.txt", "x.md", "3-x.md"]);
    }
}
