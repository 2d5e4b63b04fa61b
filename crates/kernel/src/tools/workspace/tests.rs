use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use crate::tools::workspace::*;

/// An item's workspace beside a folder it must not touch.
struct Place {
    root: tempfile::TempDir,
    workspace: Workspace,
}

impl Place {
    async fn new() -> Self {
        let root = tempfile::tempdir().expect("a directory");
        fs::create_dir(root.path().join("outside")).expect("made");
        fs::write(root.path().join("outside/secret.txt"), "SECRET").expect("written");
        let workspace = Workspaces::new(root.path().join("workspaces")).open(&"item".into()).await.expect("opened");
        Self { root, workspace }
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.workspace.path().join(name)
    }

    fn outside(&self) -> PathBuf {
        self.root.path().join("outside")
    }

    /// Asserts that nothing outside was changed.
    fn assert_untouched(&self, after: &str) {
        let names: Vec<_> = fs::read_dir(self.outside()).expect("listed").map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(names, ["secret.txt"], "{after}");
        assert_eq!(fs::read(self.outside().join("secret.txt")).expect("read"), b"SECRET", "{after}");
        let mut top: Vec<_> = fs::read_dir(self.root.path()).expect("listed").map(|entry| entry.expect("an entry").file_name()).collect();
        top.sort();
        assert_eq!(top, ["outside", "workspaces"], "{after}");
        let items: Vec<_> = fs::read_dir(self.root.path().join("workspaces")).expect("listed").collect();
        assert_eq!(items.len(), 1, "{after}");
    }
}

async fn paths(workspace: &Workspace) -> Vec<String> {
    workspace.list().await.expect("listed").into_iter().map(|entry| entry.path).collect()
}

#[tokio::test]
async fn what_is_written_is_read_listed_and_known_by_its_digest() {
    let Place { workspace, .. } = &Place::new().await;
    let written = workspace.write("docs/plan.md", b"# Plan\n").await.expect("written");
    assert_eq!((written.path.as_str(), written.bytes), ("docs/plan.md", 7));
    assert_eq!(workspace.digest("docs/plan.md").await, Ok(FileFacts { sha256: written.sha256, bytes: 7 }));
    assert_eq!(workspace.read("docs/plan.md", 3).await, Ok(FileHead { head: b"# P".to_vec(), bytes: 7 }));
    workspace.write("docs/plan.md", b"new").await.expect("written over");
    workspace.write("a.md", b"").await.expect("an empty file is a file");
    let entry = |path: &str, bytes| FileEntry { path: path.into(), bytes };
    assert_eq!(workspace.list().await, Ok(vec![entry("a.md", 0), entry("docs/plan.md", 3)]));
    assert_eq!(workspace.read("b.md", 3).await, Err(ToolError::Failed("b.md could not be read: there is no such file".into())));
    assert_eq!(workspace.digest("docs").await, Err(ToolError::Failed("docs could not be read: it is no plain file".into())));
}

#[tokio::test]
async fn each_item_has_a_workspace_of_its_own_that_stays() {
    let root = tempfile::tempdir().expect("a directory");
    let workspaces = Workspaces::new(root.path().join("deep/down"));
    let (one, two) = (workspaces.open(&"one".into()).await.expect("opened"), workspaces.open(&"two".into()).await.expect("opened"));
    one.write("a.md", b"one").await.expect("written");
    assert_eq!(two.list().await, Ok(Vec::new()));
    assert_eq!(paths(&workspaces.open(&"one".into()).await.expect("opened again")).await, ["a.md"]);
    for id in ["", "..", "a/b", "/etc", ".teamroom-copies", "a\0"] {
        assert!(matches!(workspaces.open(&WorkItemId::new(id)).await, Err(ToolError::Refused(_))), "{id:?}");
    }
}

/// Names that lead outside, or mean something else on some system.
fn nasty_names() -> Vec<String> {
    let fixed = [
        "",
        ".",
        "..",
        "/",
        "//",
        "./a",
        "a/",
        "a//b",
        "a/./b",
        "a/../b",
        "a/..",
        "../outside/secret.txt",
        "../../outside/secret.txt",
        "../item/a",
        "a/../../outside/x",
        "/etc/passwd",
        "/etc/cron.d/x",
        "//etc/passwd",
        "/proc/self/cwd/x",
        "/dev/null",
        "~/../x/",
        "..\\outside\\secret.txt",
        "a\\..\\b",
        "\\\\host\\share",
        "C:\\x",
        "C:x",
        "c:/x",
        "file:///etc/passwd",
        "http://127.0.0.1/",
        "a:b",
        "a.md:stream",
        "-rf",
        "--help",
        "a/-x",
        " a",
        "a ",
        "a.",
        "a..",
        "...",
        "a/ /b",
        "\t",
        "a\n",
        "a\nb",
        "a\rb",
        "a\0b",
        "\0",
        "a\u{7f}",
        "\u{1b}[31m",
        "a\u{200B}b",
        "a\u{202E}dm.exe",
        "\u{FEFF}a",
        "\u{2028}",
        "a\u{00AD}",
        ".git",
        ".git/config",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "sub/.git/config",
        "git~1/config",
        ".teamroom",
        ".teamroom-tmp/x",
        ".TEAMROOM-x",
        "a/.teamroom-1",
        "a/b/c/d/e/f/g/h/i",
    ];
    let devices = ["CON", "con", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "COM0", "COM1", "com9", "LPT1", "lpt9", "COM¹", "LPT²", "com³"];
    let devices = devices
        .iter()
        .flat_map(|device| [(*device).to_owned(), format!("{device}.txt"), format!("docs/{device}.tar.gz"), format!("{device} .md")]);
    let climbing = (1..=20).flat_map(|depth| {
        let up = "../".repeat(depth);
        [format!("{up}outside/secret.txt"), format!("{up}etc/passwd"), format!("a/{up}outside/x"), format!("./{up}x")]
    });
    let long = ["x".repeat(121), "é".repeat(121), "\u{1F600}".repeat(61), format!("a/{}", "y".repeat(5000)), "a/".repeat(4000)];
    fixed.map(str::to_owned).into_iter().chain(devices).chain(climbing).chain(long).collect()
}

#[tokio::test]
async fn names_that_are_no_plain_paths_are_refused_by_everything() {
    let place = Place::new().await;
    let names = nasty_names();
    assert!(names.len() > 200, "{}", names.len());
    for name in &names {
        for refused in [
            place.workspace.write(name, b"x").await.map(drop),
            place.workspace.read(name, 10).await.map(drop),
            place.workspace.digest(name).await.map(drop),
        ] {
            assert!(matches!(refused, Err(ToolError::Refused(_))), "{name:?}: {refused:?}");
        }
    }
    place.assert_untouched("nasty names");
    assert_eq!(paths(&place.workspace).await, [""; 0]);
}

#[tokio::test]
async fn names_that_only_look_odd_are_files() {
    let place = Place::new().await;
    let mut names: Vec<String> = [
        "a",
        "a.b.c",
        ".env.example",
        "..a",
        "a..b",
        "zwölf → 十二.md",
        "console.log",
        "com10.txt",
        "lpt.md",
        "git",
        ".gitignore",
        "a b/c d.txt",
        "%2e%2e",
        "$HOME",
        "'; rm -rf x",
        "*.md",
    ]
    .map(str::to_owned)
    .to_vec();
    names.extend(["x".repeat(120), "é".repeat(120), "a1/a2/a3/a4/a5/a6/a7/a8".to_owned()]);
    for name in &names {
        let written = place.workspace.write(name, name.as_bytes()).await.unwrap_or_else(|error| panic!("{name:?}: {error}"));
        assert_eq!(place.workspace.digest(name).await.expect("read").sha256, written.sha256, "{name:?}");
    }
    names.sort();
    assert_eq!(paths(&place.workspace).await, names);
}

#[tokio::test]
async fn links_lead_nowhere_and_a_plain_twin_works() {
    let place = Place::new().await;
    let outside = place.outside();
    symlink(outside.join("secret.txt"), place.inside("file")).expect("linked");
    symlink(&outside, place.inside("folder")).expect("linked");
    symlink("../../outside", place.inside("relative")).expect("linked");
    symlink("..", place.inside("parent")).expect("linked");
    symlink("/", place.inside("root")).expect("linked");
    symlink("/proc/self/cwd", place.inside("cwd")).expect("linked");
    symlink("loop", place.inside("loop")).expect("linked");
    symlink(outside.join("made-by-link"), place.inside("dangling")).expect("linked");
    fs::create_dir(place.inside("real")).expect("made");
    symlink(&outside, place.inside("real/deep")).expect("linked");
    let through = [
        "file",
        "folder/secret.txt",
        "relative/secret.txt",
        "parent/item/x",
        "root/etc/passwd",
        "cwd/Cargo.toml",
        "loop/x",
        "dangling",
        "real/deep/secret.txt",
    ];
    for path in through {
        assert!(place.workspace.read(path, 100).await.is_err(), "{path} is read");
        assert!(place.workspace.digest(path).await.is_err(), "{path} is digested");
    }
    assert_eq!(paths(&place.workspace).await, [""; 0], "links are not listed");
    for path in ["folder/new", "folder/deeper/new", "relative/new", "parent/new", "root/tmp/new", "cwd/new", "loop/new", "real/deep/new"] {
        assert!(place.workspace.write(path, b"x").await.is_err(), "{path} is written");
        place.assert_untouched(path);
    }
    // Writing replaces the symbolic link, not its target.
    for path in ["file", "dangling"] {
        place.workspace.write(path, b"mine").await.expect("written");
        assert_eq!(place.workspace.read(path, 10).await.expect("read").head, b"mine");
        place.assert_untouched(path);
    }
    place.workspace.write("real/plain.md", b"twin").await.expect("a plain path beside the links works");
    assert_eq!(paths(&place.workspace).await, ["dangling", "file", "real/plain.md"]);
    assert_eq!(fs::read_dir(place.workspace.copy().await.expect("copied").path()).expect("listed").count(), 3, "links are not copied");
}

#[tokio::test]
async fn a_folder_that_keeps_being_swapped_for_a_link_lets_nothing_out() {
    let place = Place::new().await;
    let (folder, link) = (place.inside("swapped"), place.outside());
    let stop = CancellationOnDrop::default();
    let stopped = stop.0.clone();
    let swapping = std::thread::spawn(move || {
        let mut swaps = 0_u32;
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) || swaps < 50 {
            let _ = fs::remove_dir_all(&folder);
            let _ = symlink(&link, &folder);
            let _ = fs::remove_file(&folder);
            let _ = fs::create_dir(&folder);
            swaps += 1;
        }
        swaps
    });
    for round in 0..300 {
        let _ = place.workspace.write("swapped/secret.txt", b"theirs").await;
        if let Ok(read) = place.workspace.read("swapped/secret.txt", 10).await {
            assert_eq!(read.head, b"theirs", "round {round}");
        }
        for entry in place.workspace.list().await.unwrap_or_default() {
            assert_eq!((entry.path.as_str(), entry.bytes), ("swapped/secret.txt", 6), "round {round}");
        }
    }
    drop(stop);
    assert!(swapping.join().expect("it swapped") >= 50);
    place.assert_untouched("swapping");
}

/// Ends a thread, also if the test fails.
#[derive(Default)]
struct CancellationOnDrop(Arc<std::sync::atomic::AtomicBool>);

impl Drop for CancellationOnDrop {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[tokio::test]
async fn the_workspace_itself_cannot_be_a_link() {
    let root = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(root.path().join("workspaces")).expect("made");
    fs::create_dir(root.path().join("outside")).expect("made");
    symlink(root.path().join("outside"), root.path().join("workspaces/item")).expect("linked");
    let opened = Workspaces::new(root.path().join("workspaces")).open(&"item".into()).await;
    assert!(matches!(opened, Err(ToolError::Failed(_))), "{opened:?}");
}

#[tokio::test]
async fn a_pipe_in_the_place_of_a_file_keeps_nobody_waiting() {
    let place = Place::new().await;
    let made = std::process::Command::new("mkfifo").arg(place.inside("pipe")).status().expect("mkfifo is part of every system");
    assert!(made.success());
    let read = tokio::time::timeout(std::time::Duration::from_secs(10), place.workspace.read("pipe", 10)).await.expect("in time");
    assert_eq!(read, Err(ToolError::Failed("pipe could not be read: it is no plain file".into())));
    assert_eq!(paths(&place.workspace).await, [""; 0]);
}

#[tokio::test]
async fn limits_are_told_and_a_file_in_place_of_another_counts_once() {
    let Place { workspace, .. } = &Place::new().await;
    let megabyte = vec![b'x'; usize::try_from(MOST_FILE_BYTES).expect("small")];
    let too_large = workspace.write("large", &[&megabyte[..], b"x"].concat()).await;
    assert_eq!(too_large, Err(ToolError::Refused("large is not written: it has 1048577 bytes, and a file may have 1048576".into())));
    for file in 0..20 {
        workspace.write(&format!("large-{file}"), &megabyte).await.expect("20 MiB have room");
    }
    let full = workspace.write("one-more", b"x").await;
    assert_eq!(
        full,
        Err(ToolError::Refused("one-more is not written: the workspace would hold 20971521 bytes, and may hold 20971520".into()))
    );
    workspace.write("large-7", &megabyte).await.expect("in place of itself");
    workspace.write("large-7", b"").await.expect("smaller");
    for file in 20..MOST_FILES {
        workspace.write(&format!("small-{file}"), b"x").await.expect("200 files have room");
    }
    let full = workspace.write("one-more", b"x").await;
    assert_eq!(full, Err(ToolError::Refused("one-more is not written: the workspace holds 200 files, and may hold 200".into())));
    workspace.write("small-20", b"other").await.expect("in place of itself");
}

#[tokio::test]
async fn a_folder_where_a_file_is_to_be_and_a_file_where_a_folder_is_to_be_are_told() {
    let place = Place::new().await;
    place.workspace.write("a/b.md", b"x").await.expect("written");
    assert_eq!(place.workspace.write("a", b"x").await, Err(ToolError::Failed("a could not be written: a folder has this name".into())));
    let below = place.workspace.write("a/b.md/c.md", b"x").await.expect_err("refused").to_string();
    assert!(below.starts_with("a/b.md/c.md could not be written: "), "{below}");
    let left: Vec<_> = fs::read_dir(place.workspace.path()).expect("listed").collect();
    assert_eq!(left.len(), 1, "no temporary file is left");
}

#[tokio::test]
async fn a_copy_is_whole_goes_away_and_changes_nothing() {
    let Place { workspace, .. } = &Place::new().await;
    workspace.write("src/deep/a.txt", b"a").await.expect("written");
    workspace.write("b.txt", b"b").await.expect("written");
    let copy = workspace.copy().await.expect("copied");
    let path = copy.path().to_owned();
    assert_eq!(fs::read(path.join("src/deep/a.txt")).expect("copied"), b"a");
    fs::write(path.join("b.txt"), "changed").expect("written");
    fs::create_dir(path.join("target")).expect("made");
    drop(copy);
    assert!(!path.exists());
    assert_eq!(workspace.read("b.txt", 10).await.expect("read").head, b"b");
    assert_eq!(paths(workspace).await, ["b.txt", "src/deep/a.txt"]);
    // Leftovers of a crash are replaced.
    fs::create_dir_all(path.join("left")).expect("made");
    let copy = workspace.copy().await.expect("copied again");
    assert!(!copy.path().join("left").exists() && copy.path().join("b.txt").exists());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// For any path, it is refused or the file is below the workspace, and nothing else changes.
    #[test]
    fn any_path_is_refused_or_stays_inside(path in r"(\.\.|\.|/|\\|~|-|:|[a-z]|link|secret\.txt|outside|\PC|\s|[A-Z]{3}1?|\x00){1,12}") {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let place = Place::new().await;
            symlink(place.outside(), place.inside("link")).expect("linked");
            let written = place.workspace.write(&path, b"x").await;
            place.assert_untouched(&path);
            let read = place.workspace.read(&path, 10).await;
            assert_eq!(written.is_ok(), read.is_ok(), "{path:?}");
            assert!(read.is_err() || read.is_ok_and(|read| read.head == b"x"), "{path:?}");
            assert_eq!(paths(&place.workspace).await.len(), usize::from(written.is_ok()), "{path:?}");
        });
    }
}
