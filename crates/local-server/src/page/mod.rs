//! The chat page of both local servers: static files, embedded in the binary.
//!
//! `/sandbox/info` says which platform the page is for, and has the accounts. `js/protocol` has one folder for each platform. The one for Discord
//! uses the gateway and the REST API, as every other client does. The one for Slack uses the server's routes for people, because Slack's API is for
//! apps. The views know one form of messages. There is no build step: the browser runs these files. The servers only serve them under loopback names.

use axum::{
    Router,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

/// Allows files of this server only and no inline code, so that markup in a message cannot run or send anything.
/// `blob:` is for images that are not sent yet.
const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; img-src 'self' blob:; object-src 'none'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

struct File {
    path: &'static str,
    content_type: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($content_type:ident: $($path:literal),+;)+) => {
        &[$($(File { path: $path, content_type: $content_type, text: include_str!($path) }),+),+]
    };
}

const INDEX: &str = include_str!("index.html");

const FILES: &[File] = files! {
    SVG: "icon.svg";
    CSS: "style/base.css", "style/layout.css", "style/messages.css", "style/controls.css";
    JAVASCRIPT:
        "js/app.js", "js/page.js", "js/theme_early.js",
        "js/protocol/discord/api.js", "js/protocol/discord/discord.js", "js/protocol/discord/gateway.js",
        "js/protocol/discord/interactions.js", "js/protocol/error.js",
        "js/protocol/slack/api.js", "js/protocol/slack/ids.js", "js/protocol/slack/interactions.js", "js/protocol/slack/live.js",
        "js/protocol/slack/messages.js", "js/protocol/slack/slack.js", "js/protocol/slack/views.js",
        "js/state/history.js", "js/state/messages.js", "js/state/reads.js", "js/state/store.js",
        "js/text/markdown.js", "js/text/mrkdwn.js", "js/text/render.js", "js/text/rich_text.js", "js/text/scan.js",
        "js/text/sentence.js", "js/text/time.js",
        "js/view/message/actions.js", "js/view/message/attachments.js", "js/view/elements/avatar.js", "js/view/writing/command_form.js",
        "js/view/elements/completion.js", "js/view/writing/composer.js", "js/view/message/controls.js", "js/view/conversation.js",
        "js/view/dialogs/dialogs.js", "js/view/elements/dom.js", "js/view/message/editor.js", "js/view/message/embeds.js",
        "js/view/elements/growing.js", "js/view/dialogs/home.js", "js/view/elements/icons.js", "js/view/log/intro.js",
        "js/view/message/layout.js", "js/view/message/message.js", "js/view/dialogs/modal.js", "js/view/people.js", "js/view/sidebar.js",
        "js/view/dialogs/search.js", "js/view/dialogs/switcher.js", "js/view/elements/theme.js", "js/view/log/timeline.js";
};

/// The page at `/` and its files below `/page/`.
pub fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/", get(|| async { respond(HTML, INDEX) })).route("/page/{*path}", get(file))
}

async fn file(Path(path): Path<String>) -> Response {
    match find_file(&path) {
        Some(file) => respond(file.content_type, file.text),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn find_file(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

fn respond(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        // After an update the browser must not use cached modules of the old version.
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (headers, text).into_response()
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path, PathBuf};

    use super::*;

    /// The quoted targets that follow `marker` in `text`.
    fn list_targets<'a>(text: &'a str, marker: &str) -> Vec<&'a str> {
        let after = text.split(marker).skip(1);
        after.filter_map(|rest| rest.split('"').next()).collect()
    }

    fn resolve(from: &str, target: &str) -> String {
        let mut path = PathBuf::from(from);
        path.pop();
        for part in Path::new(target).components() {
            match part {
                Component::ParentDir => assert!(path.pop(), "{from} imports from above the page: {target}"),
                Component::Normal(name) => path.push(name),
                _ => {}
            }
        }
        path.to_str().expect("the paths are ASCII").to_owned()
    }

    #[test]
    fn every_imported_module_is_served() {
        for file in FILES.iter().filter(|file| file.content_type == JAVASCRIPT) {
            for target in list_targets(file.text, "from \"") {
                let path = resolve(file.path, target);
                assert!(find_file(&path).is_some(), "{} imports {path}, which is not served", file.path);
            }
        }
    }

    #[test]
    fn the_page_refers_only_to_files_that_are_served() {
        let targets = [list_targets(INDEX, "src=\""), list_targets(INDEX, "href=\"")].concat();
        assert!(targets.len() > 4, "the page loads its scripts and styles: {targets:?}");
        for target in targets {
            let path = target.strip_prefix("/page/").expect("everything is below /page/");
            assert!(find_file(path).is_some(), "the page loads {path}, which is not served");
        }
    }

    #[test]
    fn nothing_is_written_inline_that_the_policy_would_refuse() {
        assert!(!INDEX.contains(" style=") && !INDEX.contains("<style"));
        assert!(INDEX.split("<script").skip(1).all(|tag| tag.trim_start().starts_with("src=") || tag.contains("src=")));
        for file in FILES {
            assert!(!file.text.contains("innerHTML"), "{} could turn text into markup", file.path);
            assert!(!file.text.contains("eval("), "{} runs text as code", file.path);
        }
    }

    #[test]
    fn an_unknown_path_is_not_found() {
        for path in ["", "js", "../mod.rs", "mod.rs", "js/app.js/"] {
            assert!(find_file(path).is_none(), "{path:?} is not a file of the page");
        }
    }
}
