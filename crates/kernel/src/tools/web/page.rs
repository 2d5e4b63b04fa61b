//! Converts responses to text for models. Fetches nothing.

use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;
use htmd::element_handler::Handlers;
use htmd::{Element, HtmlToMarkdown, Node};
use regex::Regex;
use reqwest::Url;

use crate::text::without_invisible;
use crate::tools::ToolError;
use crate::tools::web::fetch::Fetched;

/// The most links kept of a page.
const MOST_LINKS: usize = 200;
/// The maximum nesting depth. The converter is recursive, and a page with a million open tags would overflow the stack. Real pages stay far
/// below a hundred.
const DEEPEST: usize = 256;
/// The most unclosed tags. The parser searches all open tags for each tag, which takes minutes with a few hundred thousand. Counts tags
/// that are never closed (`<br>`, `<li>`) too, so it is far above [`DEEPEST`].
const MOST_OPEN: usize = 10_000;
/// Formatting tags. The parser reopens an unclosed one in each later paragraph, so a page of a few MiB can use up all memory. The text is
/// the same without them.
static LOOKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u:</?(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u))(?:[ \t\r\n\x0c/][^>]*)?>")
        .expect("the pattern is tested")
});
/// Replaces a removed tag, so that its surroundings do not form a new one. Removed later with other invisible characters.
const NOTHING: &str = "\u{200B}";
/// Elements without text of the page.
const SKIPPED: [&str; 12] =
    ["button", "footer", "form", "header", "iframe", "nav", "noscript", "script", "select", "style", "svg", "template"];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageText {
    pub text: String,
    /// Absolute link targets in page order.
    pub links: Vec<String>,
}

/// Converts a page to text. Other text formats are returned as they are.
///
/// # Errors
/// It is not text, or too deeply nested.
pub(super) fn read_page(page: &Fetched) -> Result<PageText, ToolError> {
    let text = read_as_it_is(page)?;
    if !is_html(kind_of(page), &text) {
        return Ok(PageText { text, links: Vec::new() });
    }
    let page = read_html(&text, &page.from)?;
    if page.text.is_empty() {
        return Err(ToolError::Failed("there is no text on it".into()));
    }
    Ok(page)
}

/// The text of a response without invisible characters.
///
/// # Errors
/// It is not text.
pub(super) fn read_as_it_is(page: &Fetched) -> Result<String, ToolError> {
    let kind = kind_of(page);
    if !is_text(kind) {
        let what = if kind == "application/pdf" { "a PDF file" } else { "no text" };
        return Err(ToolError::Failed(format!("it is {what}; only web pages, plain text, Markdown, JSON and XML are read")));
    }
    let text = decode(page);
    if text.contains('\0') {
        return Err(ToolError::Failed("it is no text, although it says so".into()));
    }
    let text = without_invisible(&text);
    if text.trim().is_empty() {
        return Err(ToolError::Failed("there is no text on it".into()));
    }
    Ok(text)
}

fn kind_of(page: &Fetched) -> &str {
    page.content_type.split(';').next().unwrap_or_default().trim()
}

/// A response without a content type is inspected.
fn is_text(kind: &str) -> bool {
    kind.is_empty()
        || kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml") && kind != "image/svg+xml"
        || ["application/json", "application/xml", "application/x-ndjson", "application/yaml", "application/toml"].contains(&kind)
}

fn is_html(kind: &str, text: &str) -> bool {
    let begins = || text.trim_start().chars().take(14).collect::<String>().to_lowercase();
    kind == "text/html"
        || kind == "application/xhtml+xml"
        || kind.is_empty() && ["<!doctype html", "<html"].iter().any(|tag| begins().starts_with(tag))
}

/// Decodes by the declared charset, as UTF-8, or by detection.
fn decode(page: &Fetched) -> String {
    let label = page.content_type.split(';').find_map(|part| part.trim().strip_prefix("charset="));
    let stated = label.and_then(|label| Encoding::for_label(label.trim_matches('"').as_bytes()));
    if stated.is_none()
        && let Ok(text) = std::str::from_utf8(&page.bytes)
    {
        return text.to_owned();
    }
    let encoding = stated.unwrap_or_else(|| {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(&page.bytes, true);
        detector.guess(None, Utf8Detection::Deny)
    });
    encoding.decode(&page.bytes).0.into_owned()
}

/// The title and the text of a page.
fn read_html(html: &str, from: &Url) -> Result<PageText, ToolError> {
    let found = Arc::new(Mutex::new(Found { base: from.clone(), title: None, links: Vec::new() }));
    let converter = build_converter(&found);
    let unreadable = || ToolError::Failed("it is too wild a page to be read".into());
    if html.matches('<').count() > MOST_OPEN + 2 * html.matches("</").count() {
        return Err(unreadable());
    }
    let tree = converter.html_to_tree(&LOOKS.replace_all(html, NOTHING)).map_err(|_| unreadable())?;
    if is_deeper_than(&tree, DEEPEST) {
        return Err(unreadable());
    }
    let text = converter.tree_to_markdown(&tree);
    let mut found = lock(&found);
    let text = match found.title.take() {
        Some(title) if !text.starts_with(&format!("# {title}")) => format!("# {title}\n\n{text}"),
        _ => text,
    };
    // Decoded entities may contain invisible characters, too.
    Ok(PageText { text: without_invisible(text.trim()), links: std::mem::take(&mut found.links) })
}

/// Results besides the text. The converter requires thread-safe handlers, hence the lock.
struct Found {
    base: Url,
    title: Option<String>,
    links: Vec<String>,
}

impl Found {
    /// Records the link target if it is a web address.
    fn note(&mut self, href: &str) -> Option<String> {
        let mut url = self.base.join(href).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
        url.set_fragment(None);
        let url = String::from(url);
        if self.links.len() < MOST_LINKS && !self.links.contains(&url) {
            self.links.push(url.clone());
        }
        Some(url)
    }
}

fn lock(found: &Mutex<Found>) -> std::sync::MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

fn build_converter(found: &Arc<Mutex<Found>>) -> HtmlToMarkdown {
    let (base, title, links) = (found.clone(), found.clone(), found.clone());
    HtmlToMarkdown::builder()
        .skip_tags(SKIPPED.to_vec())
        .add_handler(vec!["base"], move |_: &dyn Handlers, element: Element<'_>| {
            let mut found = lock(&base);
            let url = find_attribute(&element, "href").and_then(|href| found.base.join(&href).ok());
            found.base = url.unwrap_or_else(|| found.base.clone());
            None
        })
        .add_handler(vec!["title"], move |handlers: &dyn Handlers, element: Element<'_>| {
            let words = handlers.walk_children(element.node).content.split_whitespace().collect::<Vec<_>>().join(" ");
            lock(&title).title.get_or_insert(words);
            None
        })
        // Links are written out, so that the model can follow them.
        .add_handler(vec!["a"], move |handlers: &dyn Handlers, element: Element<'_>| {
            let url = find_attribute(&element, "href").and_then(|href| lock(&links).note(&href));
            let inner = handlers.walk_children(element.node).content;
            let words = inner.trim();
            Some(match url {
                Some(url) if !words.is_empty() => format!("[{words}]({url})").into(),
                _ => inner.into(),
            })
        })
        // Pictures are replaced by their alternative text.
        .add_handler(vec!["img"], |_: &dyn Handlers, element: Element<'_>| find_attribute(&element, "alt").map(Into::into))
        .build()
}

fn find_attribute(element: &Element<'_>, name: &str) -> Option<String> {
    element.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_string())
}

fn is_deeper_than(tree: &Rc<Node>, most: usize) -> bool {
    let mut level = vec![tree.clone()];
    for _ in 0..=most {
        level = level.iter().flat_map(|node| node.children.borrow().clone()).collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(content_type: &str, bytes: impl Into<Vec<u8>>) -> Fetched {
        Fetched { from: Url::parse("https://example.org/a/b").unwrap(), content_type: content_type.into(), bytes: bytes.into() }
    }

    fn text(content_type: &str, bytes: &[u8]) -> Result<String, String> {
        read_page(&fetched(content_type, bytes)).map(|page| page.text).map_err(|error| error.to_string())
    }

    const PAGE: &str = r#"<!DOCTYPE html><html><head><title>Release
        notes</title><style>p{}</style><script>track()</script></head><body>
        <nav><a href="/home">Home</a></nav><header>Banner</header>
        <main><h2>Version 3</h2><p>It is <b>fast</b>, see <a href="../c?x=1#part">the bench&#8203;mark</a> and <a href="//other.org">this</a>.</p>
        <ul><li>one</li><li>two</li></ul>
        <p><a href="javascript:steal()">no</a> <a href="mailto:a@b.c">mail</a> <a href="/c?x=1">again</a> <img src="/t.png" alt="a chart"></p>
        <table><tr><th>k</th></tr><tr><td>v</td></tr></table></main>
        <form>Sign up</form><noscript>on</noscript><iframe src="/ad"></iframe><footer>Imprint</footer></body></html>"#;

    #[test]
    fn a_web_page_becomes_its_words_with_title_and_links() {
        let page = read_page(&fetched("text/html; charset=utf-8", PAGE)).unwrap();
        insta::assert_snapshot!(page.text, @r"
        # Release notes

        ## Version 3

        It is fast, see [the benchmark](https://example.org/c?x=1) and [this](https://other.org/).

        *   one
        *   two

        no mail [again](https://example.org/c?x=1) a chart

        | k |
        | - |
        | v |
        ");
        assert_eq!(page.links, ["https://example.org/c?x=1", "https://other.org/"]);
    }

    #[test]
    fn relative_links_begin_where_the_page_says() {
        let html = "<html><head><base href='/docs/v2/'></head><body><h1>T</h1><a href='x'>x</a></body></html>";
        let page = read_page(&fetched("text/html", html)).unwrap();
        assert_eq!(page.links, ["https://example.org/docs/v2/x"]);
    }

    #[test]
    fn a_page_gives_at_most_two_hundred_links() {
        let html = (0..500).fold(String::new(), |html, n| html + &format!("<a href='/{n}'>{n}</a> "));
        assert_eq!(read_page(&fetched("text/html", html)).unwrap().links.len(), 200);
    }

    #[test]
    fn text_is_told_as_it_is_without_what_does_not_show() {
        assert_eq!(text("text/markdown", b"# A\r\nb").unwrap(), "# A\nb");
        assert_eq!(text("application/problem+json", b"{\"a\": 1}").unwrap(), "{\"a\": 1}");
        assert_eq!(text("application/xml", b"<a>b</a>").unwrap(), "<a>b</a>");
        assert_eq!(text("text/plain", "a\u{200B}b\u{E0041}".as_bytes()).unwrap(), "ab");
        assert_eq!(text("", b"<html><body><p>hi</p></body></html>").unwrap(), "hi");
        assert_eq!(text("", b"just words").unwrap(), "just words");
    }

    #[test]
    fn other_encodings_are_read_by_their_name_or_by_their_looks() {
        assert_eq!(text("text/plain; charset=\"iso-8859-1\"", b"gr\xfc\xdfe").unwrap(), "grüße");
        assert_eq!(text("text/plain", b"viele gr\xfc\xdfe aus k\xf6ln").unwrap(), "viele grüße aus köln");
        assert_eq!(text("text/plain; charset=nonsense", "grüße".as_bytes()).unwrap(), "grüße");
    }

    #[test]
    fn what_is_no_text_is_refused_kindly() {
        for (kind, bytes, told) in [
            ("application/pdf", &b"%PDF-1.7"[..], "it is a PDF file; only web pages, plain text, Markdown, JSON and XML are read"),
            ("image/png", b"\x89PNG", "it is no text; only web pages, plain text, Markdown, JSON and XML are read"),
            ("image/svg+xml", b"<svg/>", "it is no text; only web pages, plain text, Markdown, JSON and XML are read"),
            ("text/plain", b"a\0b", "it is no text, although it says so"),
            ("text/html", b"<html><script>x</script></html>", "there is no text on it"),
            ("text/plain", b" \n", "there is no text on it"),
        ] {
            assert_eq!(text(kind, bytes), Err(told.into()), "{kind}");
        }
    }

    #[test]
    fn a_page_that_is_too_deep_is_refused_and_one_that_is_deep_is_read() {
        let nested = |depth: usize| format!("{}deep{}", "<div>".repeat(depth), "</div>".repeat(depth));
        assert_eq!(text("text/html", nested(200).as_bytes()).unwrap(), "deep");
        let wild = || Err("it is too wild a page to be read".to_owned());
        assert_eq!(text("text/html", nested(5000).as_bytes()), wild());
        assert_eq!(text("text/html", "<div>".repeat(600_000).as_bytes()), wild());
    }

    #[test]
    fn tags_of_looks_are_words_only_and_cannot_multiply() {
        assert_eq!(text("text/html", b"<p>un<b class='x'>believ</b>able <CODE\n>x</code><br/> <base2>").unwrap(), "unbelievable x");
        assert_eq!(text("text/html", b"<p><<b>b>not bold</p>").unwrap(), "<b>not bold");
        let open = (0..3000).fold(String::new(), |open, n| open + &format!("<b class={n}>")) + &"<p>x</p>".repeat(3000);
        assert_eq!(text("text/html", open.as_bytes()).unwrap().matches('x').count(), 3000);
    }
}
