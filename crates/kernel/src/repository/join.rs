//! Joins the branches that an item builds on. Git writes only objects here: no reference changes, and no file is checked out.

use serde::{Deserialize, Serialize};

use crate::repository::RepositoryError;
use crate::repository::git::{Git, refused};
use crate::repository::marks::find_marks;

/// Settings of a person that would change what a join looks like, or run a program for it.
const SETTINGS: [&str; 4] = ["-c", "merge.conflictStyle=merge", "-c", "merge.default=text"];

/// Git's exit code for an option that it does not know.
const USAGE: i32 = 129;

/// The work of another item that an item builds on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// The other item's title.
    pub title: String,
    pub branch: String,
    /// The commit that was verified.
    pub commit: String,
}

/// A file that git could not join.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub path: String,
    /// The titles of the items whose version is the upper one between git's marks.
    pub above: Vec<String>,
    /// The title of the item whose version is the lower one.
    pub below: String,
    /// False: the file is no text, or was deleted on one side. It is as one side has it.
    pub is_marked: bool,
    /// Lines that look like marks, but were in the file before.
    pub(super) known: Vec<String>,
}

/// Where work starts that builds on other items.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Start {
    /// It has all that the item builds on.
    pub(super) commit: String,
    /// The commit joins several branches.
    pub(super) is_join: bool,
    /// The first commit of the worktree: `commit`, or earlier work on the item that includes `commit` or was joined with it.
    pub(super) tip: String,
    pub(super) conflicts: Vec<Conflict>,
}

/// What is there before the start is known.
pub(super) struct Ground<'a> {
    /// The repository's HEAD.
    pub(super) head: &'a str,
    /// Where the item's branch left HEAD, or else HEAD.
    pub(super) origin: &'a str,
    /// The commit of the item's branch, if it exists.
    pub(super) tip: Option<&'a str>,
}

#[derive(Debug, Clone)]
struct Side {
    title: String,
    commit: String,
}

/// The start of an item that builds on others. None: it starts from where its branch leaves HEAD, which has what it needs.
///
/// # Errors
/// The repository. A branch is not there any more.
pub(super) async fn find_start(git: &Git, ground: &Ground<'_>, needs: &[Needed]) -> Result<Option<Start>, RepositoryError> {
    let mut sides = Vec::new();
    let mut is_on_origin = false;
    for need in needs {
        if contains(git, ground.origin, &need.commit).await {
            is_on_origin = true;
        } else if contains(git, ground.head, &need.commit).await
            || contains(git, &format!("refs/heads/{}", need.branch), &need.commit).await
        {
            sides.push(Side { title: need.title.clone(), commit: need.commit.clone() });
        } else {
            return Err(gone(git, need).await);
        }
    }
    if sides.is_empty() {
        return Ok(None);
    }
    if is_on_origin {
        sides.insert(0, Side { title: "what was merged already".into(), commit: ground.origin.to_owned() });
    }
    let mut sides = without_contained(git, sides).await?.into_iter();
    let Some(first) = sides.next() else { return Ok(None) };
    let mut join = Join::begin(git, first);
    for side in sides {
        join.add(side).await?;
    }
    let (commit, is_join) = (join.commit.clone(), join.sides.len() > 1);
    let tip = match ground.tip {
        Some(tip) if contains(git, tip, &commit).await => tip.to_owned(),
        Some(tip) if !contains(git, &commit, tip).await => {
            let mut whole = Join::begin(git, Side { title: "the earlier work on this item".into(), commit: tip.to_owned() });
            whole.add(Side { title: "what it builds on".into(), commit: commit.clone() }).await?;
            join.conflicts.append(&mut whole.conflicts);
            whole.commit
        }
        _ => commit.clone(),
    };
    let conflicts = join.read_marks([&commit, &tip]).await;
    Ok(Some(Start { commit, is_join, tip, conflicts }))
}

/// A join in progress. The sides are joined one by one, in the order of the needs.
struct Join<'a> {
    git: &'a Git,
    sides: Vec<Side>,
    /// All sides so far.
    commit: String,
    conflicts: Vec<Conflict>,
}

impl<'a> Join<'a> {
    fn begin(git: &'a Git, side: Side) -> Self {
        Self { git, commit: side.commit.clone(), sides: vec![side], conflicts: Vec::new() }
    }

    /// Joins another side. Files with conflicts are stored as they are, with marks.
    async fn add(&mut self, side: Side) -> Result<(), RepositoryError> {
        let (tree, paths) = merge(self.git, &self.commit, &side.commit).await?;
        for path in paths {
            let above = self.find_authors(&path, &side.commit).await?;
            self.conflicts.push(Conflict { path, above, below: side.title.clone(), is_marked: false, known: Vec::new() });
        }
        let dates = self.git.text(&["show", "--no-patch", "--format=%ct", &self.commit, &side.commit]).await?;
        let date = dates.lines().filter_map(|line| line.trim().parse().ok()).max().unwrap_or_default();
        let title = side.title.split_whitespace().collect::<Vec<_>>().join(" ");
        let git = self.git.by("Teamroom", "teamroom@teamroom".into()).dated(date);
        let message = format!("Join the work on \"{title}\"");
        let commit = git.text(&["commit-tree", tree.as_str(), "-p", &self.commit, "-p", &side.commit, "-m", &message]).await?;
        self.commit = commit.trim().into();
        self.sides.push(side);
        Ok(())
    }

    /// The titles of the sides that changed a file that another side also changed.
    async fn find_authors(&self, path: &str, other: &str) -> Result<Vec<String>, RepositoryError> {
        let mut titles = Vec::new();
        for Side { title, commit } in &self.sides {
            let base = self.git.text(&["merge-base", commit, other]).await?;
            if !self.git.holds(&["diff", "--quiet", "--no-ext-diff", base.trim(), commit, "--", path]).await? {
                titles.push(title.clone());
            }
        }
        // A file that was renamed has another name there.
        Ok(if titles.is_empty() { self.sides.iter().map(|side| side.title.clone()).collect() } else { titles })
    }

    /// The conflicts, with the lines of their files that only look like marks. The sides were verified, so none of their own lines is a mark.
    async fn read_marks(mut self, joined: [&str; 2]) -> Vec<Conflict> {
        for conflict in &mut self.conflicts {
            for Side { commit, .. } in &self.sides {
                let text = read_text(self.git, commit, &conflict.path).await;
                let more = find_marks(&text, &conflict.known).into_iter().map(|(_, line)| line.to_owned()).collect::<Vec<_>>();
                conflict.known.extend(more);
            }
            for commit in joined {
                let text = read_text(self.git, commit, &conflict.path).await;
                conflict.is_marked |= !find_marks(&text, &conflict.known).is_empty();
            }
        }
        self.conflicts
    }
}

/// The tree of two commits joined, and the files with conflicts.
async fn merge(git: &Git, left: &str, right: &str) -> Result<(String, Vec<String>), RepositoryError> {
    let mut arguments = SETTINGS.to_vec();
    arguments.extend(["merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", left, right]);
    let output = git.with_attributes_of(left).output(&arguments).await?;
    match output.status.code() {
        Some(0 | 1) if !output.stdout.is_empty() => {
            let said = String::from_utf8_lossy(&output.stdout);
            let mut parts = said.split('\0').filter(|part| !part.is_empty()).map(str::to_owned);
            let tree = parts.next().unwrap_or_default();
            Ok((tree, parts.collect()))
        }
        Some(USAGE) => {
            let version = git.text(&["--version"]).await.unwrap_or_default();
            let version = version.trim().trim_start_matches("git version ");
            Err(RepositoryError(format!("git {version} is too old to join branches. Install git 2.38 or newer")))
        }
        _ => Err(refused(&output)),
    }
}

/// The sides that no other side contains, in the same order.
async fn without_contained(git: &Git, sides: Vec<Side>) -> Result<Vec<Side>, RepositoryError> {
    let mut arguments = vec!["merge-base", "--independent"];
    arguments.extend(sides.iter().map(|side| side.commit.as_str()));
    let independent = git.text(&arguments).await?;
    let mut left: Vec<&str> = independent.lines().map(str::trim).collect();
    let mut kept = Vec::new();
    for side in &sides {
        if let Some(place) = left.iter().position(|commit| *commit == side.commit) {
            left.swap_remove(place);
            kept.push(side.clone());
        }
    }
    Ok(kept)
}

/// Whether a commit is in the history of another one. No, if one of them is not there.
async fn contains(git: &Git, whole: &str, part: &str) -> bool {
    git.holds(&["merge-base", "--is-ancestor", part, whole]).await.unwrap_or(false)
}

async fn gone(git: &Git, need: &Needed) -> RepositoryError {
    let Needed { title, branch, commit } = need;
    let short = commit.get(..12).unwrap_or(commit);
    let is_there = git.holds(&["cat-file", "-e", &format!("{commit}^{{commit}}")]).await.unwrap_or(false);
    let restore = if is_there {
        format!("`git branch --force {branch} {short}` brings it back")
    } else {
        "It cannot be restored from here, so that item has to be done again".to_owned()
    };
    RepositoryError(format!("the branch {branch} of \"{title}\" is gone, or has not got the commit {short} any more. {restore}"))
}

pub(super) async fn read_text(git: &Git, commit: &str, path: &str) -> String {
    git.text(&["cat-file", "blob", &format!("{commit}:{path}")]).await.unwrap_or_default()
}
