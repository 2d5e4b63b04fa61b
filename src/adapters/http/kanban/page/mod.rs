//! Templates and static files, embedded in the binary.
//!
//! There is no build step: the browser gets these files as they are. The templates escape all values.

use std::sync::LazyLock;

use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use crate::adapters::http::kanban::SIGN_IN;
use crate::adapters::http::kanban::view::{ItemView, KanbanView, MissionView, NewView};

static TEMPLATES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    templates.set_syntax(syntax.expect("the usual delimiters are valid"));
    let sources = [
        ("frame.html", include_str!("frame.html")),
        ("kanban.html", include_str!("kanban.html")),
        ("item.html", include_str!("item.html")),
        ("mission.html", include_str!("mission.html")),
        ("link.html", include_str!("link.html")),
        ("who.html", include_str!("who.html")),
        ("acts.html", include_str!("acts.html")),
        ("fields.html", include_str!("fields.html")),
        ("new.html", include_str!("new.html")),
        ("notice.html", include_str!("notice.html")),
        ("sign_in.html", include_str!("sign_in.html")),
    ];
    for (name, source) in sources {
        templates.add_template(name, source).expect("our own templates are well formed");
    }
    templates
});

/// The static files by name.
const FILES: [(&str, &str, &str); 5] = [
    ("kanban.css", "text/css; charset=utf-8", include_str!("kanban.css")),
    ("kanban.js", "text/javascript; charset=utf-8", include_str!("kanban.js")),
    ("mission.js", "text/javascript; charset=utf-8", include_str!("mission.js")),
    ("live.js", "text/javascript; charset=utf-8", include_str!("live.js")),
    ("icon.svg", "image/svg+xml", include_str!("icon.svg")),
];

pub(super) fn kanban(view: &KanbanView) -> Response {
    render("kanban.html", view)
}

pub(super) fn item(view: &ItemView) -> Response {
    render("item.html", view)
}

pub(super) fn mission(view: &MissionView) -> Response {
    render("mission.html", view)
}

pub(super) fn new_item(view: &NewView) -> Response {
    render("new.html", view)
}

/// A page that says why a form did nothing. The browser still has the person's input on the page before.
pub(super) fn refused((status, text): (StatusCode, &str)) -> Response {
    (status, render("notice.html", Notice { team: "Teamroom", text })).into_response()
}

pub(super) fn missing() -> Response {
    (StatusCode::NOT_FOUND, render("notice.html", Notice { team: "Teamroom", text: "This item does not exist." })).into_response()
}

/// The sign-in form.
pub(super) fn sign_in(status: StatusCode, complaint: Option<&str>) -> Response {
    let page = render("sign_in.html", SignIn { team: "Teamroom", action: SIGN_IN, complaint });
    (status, page).into_response()
}

pub(super) fn file(name: &str) -> Response {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, content_type, text)) => ([(header::CONTENT_TYPE, *content_type)], *text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

#[derive(Serialize)]
struct Notice<'a> {
    team: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct SignIn<'a> {
    team: &'a str,
    action: &'a str,
    complaint: Option<&'a str>,
}

fn render<T: Serialize>(template: &str, values: T) -> Response {
    let template = TEMPLATES.get_template(template).expect("it is one of ours");
    Html(template.render(Serde(values)).expect("the values are what the template asks for")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: [&str; 11] = [
        include_str!("frame.html"),
        include_str!("kanban.html"),
        include_str!("item.html"),
        include_str!("mission.html"),
        include_str!("link.html"),
        include_str!("who.html"),
        include_str!("acts.html"),
        include_str!("fields.html"),
        include_str!("new.html"),
        include_str!("notice.html"),
        include_str!("sign_in.html"),
    ];

    #[test]
    fn the_pages_load_only_files_that_are_served() {
        for page in PAGES {
            for target in page.split("/backlog/page/").skip(1).filter_map(|rest| rest.split('"').next()) {
                assert!(FILES.iter().any(|(name, ..)| *name == target), "{target} is not served");
            }
        }
        assert_eq!(file("../mod.rs").status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn nothing_is_written_that_the_policy_would_refuse_or_that_turns_text_into_markup() {
        for page in PAGES {
            assert!(!page.contains(" style=") && !page.contains("<style") && !page.contains(" onclick="), "{page}");
            assert!(page.split("<script").skip(1).all(|tag| tag.trim_start().starts_with("src=")));
            assert!(!page.contains("|safe") && !page.contains("| safe") && !page.contains("autoescape"), "{page}");
        }
        for (name, _, text) in FILES {
            // XML namespaces look like URLs but are never fetched.
            let text = text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("innerHTML") && !text.contains("eval(") && !text.contains("http://"), "{name}");
        }
    }

    #[test]
    fn the_templates_escape_what_they_are_given() {
        let text = "<img src=x onerror=alert(1)> \" ' & </p>";
        let template = TEMPLATES.get_template("notice.html").expect("it is one of ours");
        let page = template.render(Serde(Notice { team: text, text })).expect("a page");
        assert!(!page.contains("<img") && page.contains("&lt;img"), "{page}");
    }
}
