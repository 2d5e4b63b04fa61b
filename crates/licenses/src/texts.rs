//! Finding the texts of a package.

use std::fs;
use std::io;
use std::path::Path;

use crate::cargo::Package;

/// How the names of files with licences and notices begin.
const BEGINNINGS: [&str; 11] =
    ["attribution", "copying", "copyright", "licence", "licences", "license", "licenses", "notice", "notices", "unlicence", "unlicense"];

/// Files with such a name that are code.
const CODE: [&str; 9] = ["c", "h", "html", "js", "json", "py", "rs", "toml", "yml"];

const MIT: &str = include_str!("../../../LICENSE-MIT");
const APACHE: &str = include_str!("../../../LICENSE-APACHE");

/// The texts of a package; those of a package from the same repository if it brings none; else the standard text of its licence. Nothing if
/// there is no standard text.
pub(crate) fn find_for(package: &Package, known: &[Package]) -> io::Result<Vec<String>> {
    let own = list_in(package.folder())?;
    if !own.is_empty() {
        return Ok(own);
    }
    for other in known.iter().filter(|other| package.repository.is_some() && other.repository == package.repository) {
        let texts = list_in(other.folder())?;
        if !texts.is_empty() {
            return Ok(texts);
        }
    }
    Ok(find_standard(package).into_iter().collect())
}

/// All licences and notices in a folder and those below it: code from elsewhere has its own.
fn list_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    // The folder of the REUSE specification. Its files are named after the licences.
    let is_reuse = folder.file_name().is_some_and(|name| name == "LICENSES");
    let mut texts = Vec::new();
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            texts.extend(list_in(&path)?);
        } else if is_reuse || is_license(&entry.file_name().to_string_lossy()) {
            texts.push(String::from_utf8_lossy(&fs::read(&path)?).into_owned());
        }
    }
    Ok(texts)
}

fn is_license(name: &str) -> bool {
    let name = name.to_lowercase();
    let beginning = name.split(['.', '-', '_']).next().unwrap_or_default();
    let is_code = name.rsplit_once('.').is_some_and(|(_, extension)| CODE.contains(&extension));
    BEGINNINGS.contains(&beginning) && !is_code
}

fn find_standard(package: &Package) -> Option<String> {
    // Packages from before SPDX separate alternatives by a slash. Parts with AND or parentheses are not equal to a name, so they are refused.
    let expression = package.license().replace('/', " OR ");
    let offers = |name| expression.split(" OR ").any(|alternative| alternative.trim() == name);
    let authors = if package.authors.is_empty() { format!("The authors of {}", package.name) } else { package.authors.join(", ") };
    if offers("MIT") {
        let lines =
            MIT.lines().map(|line| if line.starts_with("Copyright") { format!("Copyright (c) {authors}") } else { line.to_owned() });
        Some(lines.collect::<Vec<_>>().join("\n"))
    } else if offers("Apache-2.0") {
        Some(format!("Copyright {authors}\n\n{APACHE}"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::tests::package;

    #[test]
    fn licences_are_known_by_their_names() {
        for name in
            ["LICENSE", "LICENSE-MIT", "license.txt", "LICENCE.md", "COPYING", "UNLICENSE", "LICENSE-Apache-2.0_WITH_LLVM-exception"]
        {
            assert!(is_license(name), "{name}");
        }
        for name in ["license.rs", "licensing.md", "README.md", "notice.h", "copyright-check.py"] {
            assert!(!is_license(name), "{name}");
        }
    }

    #[test]
    fn texts_come_from_the_package_then_from_its_repository_then_from_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        let (bare, full) = (folder.path().join("bare"), folder.path().join("full"));
        fs::create_dir_all(full.join("vendor/LICENSES")).unwrap();
        fs::create_dir_all(&bare).unwrap();
        fs::write(full.join("LICENSE"), "first").unwrap();
        fs::write(full.join("vendor/LICENSES/Zlib.txt"), "second").unwrap();
        let with_texts = || package(&full, "MIT", "https://example.org/one");

        assert_eq!(find_for(&with_texts(), &[]).unwrap(), ["first", "second"]);
        let sibling = package(&bare, "BSD-3-Clause", "https://example.org/one");
        assert_eq!(find_for(&sibling, &[with_texts()]).unwrap(), ["first", "second"]);

        let standard = |license| find_for(&package(&bare, license, "https://example.org/two"), &[with_texts()]).unwrap();
        assert!(standard("MIT/Apache-2.0")[0].contains("\nCopyright (c) Ann, Bob\n\nPermission is hereby granted"));
        assert!(standard("Apache-2.0 OR BSL-1.0")[0].starts_with("Copyright Ann, Bob\n\n"));
        assert_eq!(standard("MIT AND BSD-3-Clause"), Vec::<String>::new());
        assert_eq!(standard("BSD-3-Clause"), Vec::<String>::new());
    }
}
