//! The sandbox of a command: the paths it may use, and how a thread restricts itself to them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Programs, libraries and files for the loader. Without `/proc`, which shows other processes' environments, and without most of `/etc`.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
];
const READABLE_DEVICES: [&str; 3] = ["/dev/random", "/dev/urandom", "/dev/zero"];
const WRITABLE_DEVICES: [&str; 1] = ["/dev/null"];

/// Toolchains in a home folder. Without the rest of `.cargo` and `.local`, which contain registry tokens and other programs' data.
const TOOLCHAINS: [&str; 9] =
    [".asdf", ".cargo/bin", ".cargo/git", ".cargo/registry", ".local/bin", ".local/lib", ".nvm", ".pyenv", ".rustup"];

/// Restricts the calling thread. Tests replace it with one that fails.
pub(super) type Confine = fn(&Reach) -> Result<(), String>;

/// The paths that a command may read, execute and write.
#[derive(Debug)]
pub(super) struct Reach {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Reach {
    pub(super) fn new(dir: &Path, program: &Path, search: &OsStr, home: Option<&Path>) -> Self {
        let mut read: Vec<PathBuf> = SYSTEM.iter().chain(&READABLE_DEVICES).map(PathBuf::from).collect();
        read.push(program.to_owned());
        read.extend(std::env::split_paths(search).filter(|folder| is_of_programs(folder, dir, home)).flat_map(with_libraries));
        read.extend(home.iter().flat_map(|home| TOOLCHAINS.iter().map(|toolchain| home.join(toolchain))));
        let write = WRITABLE_DEVICES.iter().map(PathBuf::from).chain([dir.to_owned()]).collect();
        Self { read, write }
    }
}

/// Whether a folder of `PATH` may be opened. Refused if it contains the workspaces or a home folder.
fn is_of_programs(folder: &Path, dir: &Path, home: Option<&Path>) -> bool {
    folder.is_absolute() && !dir.starts_with(folder) && !home.is_some_and(|home| home.starts_with(folder))
}

/// Adds the `…/lib` next to a `…/bin`, for its libraries.
fn with_libraries(folder: PathBuf) -> Vec<PathBuf> {
    let libraries = folder.ends_with("bin").then(|| folder.with_file_name("lib"));
    [folder].into_iter().chain(libraries).collect()
}

/// Restricts the calling thread permanently, and every process that it starts.
///
/// # Errors
/// What is missing and what to do about it. The thread may be partly restricted and must not start anything.
#[cfg(target_os = "linux")]
pub(super) fn confine_thread(reach: &Reach) -> Result<(), String> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
        RulesetStatus, Scope, path_beneath_rules,
    };

    // Restricting truncation needs version 3 and TCP version 4. With less, a command could destroy files or reach hosts.
    let needed = (AccessFs::from_all(ABI::V3), AccessNet::from_all(ABI::V4));
    let newest = ABI::V9;
    // A root command could read the whole disk through a new device file.
    let writing = AccessFs::from_all(newest) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let confine = || {
        Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(needed.0)?
            .handle_access(needed.1)?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(newest))?
            .scope(Scope::from_all(newest))?
            .create()?
            .add_rules(path_beneath_rules(&reach.read, AccessFs::from_read(newest)))?
            .add_rules(path_beneath_rules(&reach.write, writing))?
            .restrict_self()
    };
    let advice = "it needs Linux 6.7 or newer with Landlock switched on (`lsm=landlock,…` on the kernel's command line)";
    match confine() {
        Ok(status) if status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs => Ok(()),
        Ok(_) => Err(advice.into()),
        Err(error) => Err(format!("{advice} ({error})")),
    }
}

/// Other systems have no equivalent that can be called safely.
#[cfg(not(target_os = "linux"))]
pub fn confine_thread(_: &Reach) -> Result<(), String> {
    Err("that needs Linux. Run the team there, or review the result yourself".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_hold_more_than_programs_are_not_opened_for_the_search_path() {
        let (dir, home) = (Path::new("/srv/team/data/workspaces/a"), Path::new("/home/ada"));
        let reach = Reach::new(dir, Path::new("/srv/check"), OsStr::new("/:relative:/home:/home/ada:/srv/team:/srv/go/bin"), Some(home));
        let opened: Vec<_> = reach.read.iter().filter(|path| path.starts_with("/srv") || path.starts_with("/home")).collect();
        assert_eq!(opened[..3], [Path::new("/srv/check"), Path::new("/srv/go/bin"), Path::new("/srv/go/lib")]);
        assert!(opened[3..].iter().all(|path| path.starts_with("/home/ada/.")), "{opened:?}");
        for secret in ["/", "/proc", "/etc", "/home/ada/.cargo", "/home/ada/.local", "relative"] {
            assert!(!reach.read.contains(&PathBuf::from(secret)), "{secret}");
        }
        assert_eq!(reach.write, [Path::new("/dev/null"), dir]);
    }
}
