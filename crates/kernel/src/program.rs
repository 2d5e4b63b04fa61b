//! Where programs are.

use std::ffi::OsStr;
use std::path::PathBuf;

/// Looks a program up in the folders of a search path, such as `PATH`. Relative folders are skipped, because they depend on the current folder.
pub fn find_program(name: &str, search: &OsStr) -> Option<PathBuf> {
    let mut candidates = std::env::split_paths(search).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    candidates.find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_first_absolute_folder_that_has_it_counts() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(second.path().join("tool"), "").unwrap();
        let search = std::env::join_paths([Path::new("relative"), first.path(), second.path()]).unwrap();
        assert_eq!(find_program("tool", &search), Some(second.path().join("tool")));
        std::fs::write(first.path().join("tool"), "").unwrap();
        assert_eq!(find_program("tool", &search), Some(first.path().join("tool")));
        assert_eq!(find_program("another", &search), None);
    }
}
