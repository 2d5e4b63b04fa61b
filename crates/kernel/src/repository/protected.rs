//! Which files are tests, or decide how they run. A change may not pass by changing them.

use std::path::Path;

use crate::repository::RepositorySettings;

/// Folders of tests, by the conventions of the usual languages.
const FOLDERS: [&str; 8] = ["test", "tests", "spec", "specs", "__tests__", "__snapshots__", "testdata", "e2e"];

/// Files that decide which tests run, and how. Compared without case and without what follows a `*`.
const RUNNERS: [&str; 19] = [
    "makefile",
    "gnumakefile",
    "justfile",
    "rakefile",
    "package.json",
    "pytest.ini",
    "tox.ini",
    "setup.cfg",
    "pyproject.toml",
    "noxfile.py",
    "conftest.py",
    "sitecustomize.py",
    "phpunit.xml",
    "karma.conf.js",
    ".mocharc",
    "jest.config.",
    "vitest.config.",
    "playwright.config.",
    "config.toml",
];

pub(super) fn is_protected(path: &str, settings: &RepositorySettings) -> bool {
    is_test(path, &settings.tests) || is_named(path, &settings.test_command) || is_runner(path)
}

fn is_test(path: &str, tests: &[String]) -> bool {
    if !tests.is_empty() {
        let below = |test: &String| Path::new(path).starts_with(test.trim_start_matches("./").trim_end_matches('/'));
        return tests.iter().any(below);
    }
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let lower = file.to_lowercase();
    let lower_stem = stem.to_lowercase();
    folders.split('/').any(|folder| FOLDERS.contains(&folder.to_lowercase().as_str()))
        || ["test_", "test-"].iter().any(|begin| lower.starts_with(begin))
        || ["_test", "_tests", "_spec", "-test", "-spec"].iter().any(|end| lower_stem.ends_with(end))
        || [".test.", ".spec.", ".snap"].iter().any(|inside| lower.contains(inside))
        || ["Test", "Tests", "Spec"].iter().any(|end| stem.ends_with(end))
        || matches!(lower_stem.as_str(), "test" | "tests")
}

/// Whether the test command names the file.
fn is_named(path: &str, test_command: &[String]) -> bool {
    test_command.iter().any(|word| word.trim_start_matches("./") == path)
}

fn is_runner(path: &str) -> bool {
    let lower = path.to_lowercase();
    let file = lower.rsplit('/').next().unwrap_or_default();
    if file == "config.toml" {
        return lower.ends_with(".cargo/config.toml");
    }
    RUNNERS.iter().any(|runner| if runner.ends_with('.') || *runner == ".mocharc" { file.starts_with(runner) } else { file == *runner })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(tests: &[&str], test_command: &[&str]) -> RepositorySettings {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        RepositorySettings { name: "main".into(), path: ".".into(), test_command: owned(test_command), tests: owned(tests) }
    }

    #[test]
    fn tests_are_recognised_by_the_usual_names() {
        let settings = settings(&[], &["sh", "./check.sh"]);
        for path in [
            "tests/it.rs",
            "src/parser/tests.rs",
            "pkg/a_test.go",
            "test_dates.py",
            "web/cart.test.ts",
            "web/__tests__/cart.ts",
            "src/test/java/CartTest.java",
            "spec/cart_spec.rb",
            "check.sh",
            "Makefile",
            "sub/package.json",
            "conftest.py",
            "vitest.config.mts",
            ".cargo/config.toml",
        ] {
            assert!(is_protected(path, &settings), "{path}");
        }
        for path in
            ["src/lib.rs", "contest.py", "latest.py", "src/attestation.rs", "docs/config.toml", "other/check.sh.md", "src/inspector.js"]
        {
            assert!(!is_protected(path, &settings), "{path}");
        }
    }

    #[test]
    fn the_settings_may_name_them() {
        let settings = settings(&["checks/", "./verify.lua"], &["lua", "verify.lua"]);
        assert!(is_protected("checks/deep/a.lua", &settings) && is_protected("verify.lua", &settings));
        assert!(!is_protected("tests/a.lua", &settings) && !is_protected("checksum.lua", &settings));
        assert!(is_protected("Makefile", &settings), "what decides how they run is named by nobody");
    }
}
