//! What cargo knows of the dependencies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    version: String,
    license: Option<String>,
    pub(crate) authors: Vec<String>,
    pub(crate) repository: Option<String>,
    manifest_path: PathBuf,
    /// Where it comes from; nothing for the packages of this workspace.
    source: Option<String>,
    /// It is part of the program or of its build, not only of the tests.
    #[serde(skip)]
    pub(crate) used: bool,
}

impl Package {
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    pub(crate) fn license(&self) -> &str {
        self.license.as_deref().unwrap_or("see its text")
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.source.is_none()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// The target of programs for this machine.
pub(crate) fn host() -> anyhow::Result<String> {
    let about = run("rustc", &["-vV"])?;
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// All packages of the lock file for the target.
pub(crate) fn list_packages(target: &str) -> anyhow::Result<Vec<Package>> {
    let metadata = cargo(&["metadata", "--locked", "--format-version", "1", "--filter-platform", target])?;
    let mut packages = serde_json::from_str::<Metadata>(&metadata)?.packages;
    // The metadata say nothing of features that only tests switch on, and of the packages that these bring. The tree is exact.
    let tree = cargo(&["tree", "--locked", "--package", "teamroom", "--edges", "normal,build", "--target", target, "--prefix", "none"])?;
    let used: BTreeSet<_> = tree.lines().filter_map(parse_tree_line).collect();
    for package in &mut packages {
        package.used = used.contains(&(package.name.as_str(), package.version.as_str()));
    }
    Ok(packages)
}

/// Name and version of a line such as `serde_derive v1.0.229 (proc-macro) (*)`.
fn parse_tree_line(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split_whitespace();
    Some((words.next()?, words.next()?.strip_prefix('v')?))
}

fn cargo(arguments: &[&str]) -> anyhow::Result<String> {
    // Cargo names itself to what it runs, so that the toolchain is the same.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    run(program, arguments)
}

/// Runs a program in the workspace and returns what it prints. Its errors go where ours go.
fn run(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed ({})", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A package in a folder, as cargo describes it.
    pub(crate) fn package(folder: &Path, license: &str, repository: &str) -> Package {
        Package {
            name: "example".to_owned(),
            version: "1.0.0".to_owned(),
            license: Some(license.to_owned()),
            authors: vec!["Ann".to_owned(), "Bob".to_owned()],
            repository: Some(repository.to_owned()),
            manifest_path: folder.join("Cargo.toml"),
            ..Package::default()
        }
    }

    #[test]
    fn lines_of_the_tree_are_read() {
        assert_eq!(parse_tree_line("serde_derive v1.0.229 (proc-macro) (*)"), Some(("serde_derive", "1.0.229")));
        assert_eq!(parse_tree_line("teamroom v0.1.0 (/work/teamroom)"), Some(("teamroom", "0.1.0")));
        assert_eq!(parse_tree_line(""), None);
    }
}
