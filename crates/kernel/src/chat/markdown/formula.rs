//! Formulas in TeX as a line of text: `\frac{a}{b}` is `a/b`, `x^2` is `x²`.

use std::iter::Peekable;
use std::str::Chars;

/// Groups in groups, at most. Deeper ones are left out.
const DEPTH: usize = 20;

/// The longest formula that is read, in bytes.
const LONGEST: usize = 4000;

/// Whether a text is a formula and not, say, two prices or a pattern: it has a command of TeX, or something is raised or lowered.
pub(super) fn is_formula(text: &str) -> bool {
    let is_on_term = |at: usize| text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '}'));
    let is_raised = |at: usize| is_on_term(at) || (at == 0 && text[1..].starts_with(|c: char| c.is_ascii_digit() || c == '{'));
    let any = |mark: &str, is_one: &dyn Fn(usize) -> bool| text.match_indices(mark).any(|(at, _)| is_one(at));
    has_command(text) || (text.len() <= LONGEST && (any("^", &is_raised) || any("_{", &is_on_term)))
}

pub(super) fn has_command(text: &str) -> bool {
    let begins = |at: usize| !text[..at].ends_with('\\') && text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic());
    text.len() <= LONGEST && text.match_indices('\\').any(|(at, _)| begins(at))
}

/// A formula as text.
pub(super) fn plain(tex: &str) -> String {
    let mut text = String::with_capacity(tex.len());
    read(&mut tex.chars().peekable(), &mut text, 0);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

type Rest<'t> = Peekable<Chars<'t>>;

/// Reads up to the end, or to the brace that closes this group.
fn read(rest: &mut Rest<'_>, text: &mut String, depth: usize) {
    while let Some(c) = rest.next() {
        match c {
            '}' if depth > 0 => return,
            '{' => text.push_str(&group(rest, depth)),
            '}' | '&' => {}
            '~' => text.push(' '),
            '^' | '_' => {
                let part = argument(rest, depth);
                text.push_str(&small(&part, c));
            }
            '\\' => command(rest, text, depth),
            _ => text.push(c),
        }
    }
}

/// The text of a group whose brace was read.
fn group(rest: &mut Rest<'_>, depth: usize) -> String {
    let mut inner = String::new();
    if depth < DEPTH {
        read(rest, &mut inner, depth + 1);
        return inner;
    }
    let mut open = 1_usize;
    while open > 0
        && let Some(c) = rest.next()
    {
        open = if c == '{' { open + 1 } else { open - usize::from(c == '}') };
    }
    inner
}

/// What belongs to a command: a group, another command, or one character.
fn argument(rest: &mut Rest<'_>, depth: usize) -> String {
    while rest.next_if_eq(&' ').is_some() {}
    match rest.next() {
        Some('{') => group(rest, depth),
        Some('\\') => {
            let mut text = String::new();
            command(rest, &mut text, depth + 1);
            text
        }
        c => c.map(String::from).unwrap_or_default(),
    }
}

/// A command whose backslash was read.
fn command(rest: &mut Rest<'_>, text: &mut String, depth: usize) {
    let mut name = String::new();
    while let Some(letter) = rest.next_if(char::is_ascii_alphabetic) {
        name.push(letter);
    }
    if depth > DEPTH {
        return;
    }
    match name.as_str() {
        "" => match rest.next() {
            Some('\\') => text.push_str("; "),
            Some(',' | ';' | ':' | ' ' | '>') => text.push(' '),
            Some('!' | '(' | ')' | '[' | ']') | None => {}
            Some(c) => text.push(c),
        },
        "frac" | "dfrac" | "tfrac" => {
            let (above, below) = (argument(rest, depth), argument(rest, depth));
            text.extend([together(&above), "/".to_owned(), together(&below)]);
        }
        "sqrt" => {
            let part = argument(rest, depth);
            text.extend(["√", &together(&part)]);
        }
        "text" | "mathrm" | "mathbf" | "mathit" | "mathsf" | "mathbb" | "mathcal" | "operatorname" | "textbf" | "textit" | "boxed"
        | "hat" | "bar" | "vec" | "overline" | "tilde" => text.push_str(&argument(rest, depth)),
        "begin" | "end" => drop(argument(rest, depth)),
        "left" | "right" | "big" | "Big" | "bigl" | "bigr" | "displaystyle" | "limits" | "nonumber" => {}
        "quad" | "qquad" => text.push(' '),
        _ => text.push_str(SIGNS.iter().find(|(sign, _)| *sign == name).map_or(&name, |(_, shown)| shown)),
    }
}

/// A part that holds together beside a stroke.
fn together(part: &str) -> String {
    let part = part.trim();
    let is_one = part.chars().all(|c| c.is_alphanumeric() || c == '.') || (part.starts_with('(') && part.ends_with(')'));
    if is_one { part.to_owned() } else { format!("({part})") }
}

/// Raised or lowered text. What Unicode has no small letters for follows the mark.
pub(super) fn small(part: &str, mark: char) -> String {
    let part = part.trim();
    if part == "°" {
        return part.to_owned();
    }
    let (normal, shown) = if mark == '^' { (RAISED.0, RAISED.1) } else { (LOWERED.0, LOWERED.1) };
    let smaller = |c: char| normal.chars().position(|normal| normal == c).and_then(|place| shown.chars().nth(place));
    match part.chars().map(smaller).collect::<Option<String>>() {
        Some(small) => small,
        None => format!("{mark}{}", together(part)),
    }
}

const RAISED: (&str, &str) = ("0123456789+-=()abcdefghijklmnoprstuvwxyz∗*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ**");
const LOWERED: (&str, &str) = ("0123456789+-=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ");

/// Signs by their commands. A command that is missing here is shown by its name: `\log` is `log`.
const SIGNS: [(&str, &str); 88] = [
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("epsilon", "ε"),
    ("varepsilon", "ε"),
    ("zeta", "ζ"),
    ("eta", "η"),
    ("theta", "θ"),
    ("iota", "ι"),
    ("kappa", "κ"),
    ("lambda", "λ"),
    ("mu", "μ"),
    ("nu", "ν"),
    ("xi", "ξ"),
    ("pi", "π"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("phi", "φ"),
    ("varphi", "φ"),
    ("chi", "χ"),
    ("psi", "ψ"),
    ("omega", "ω"),
    ("Gamma", "Γ"),
    ("Delta", "Δ"),
    ("Theta", "Θ"),
    ("Lambda", "Λ"),
    ("Xi", "Ξ"),
    ("Pi", "Π"),
    ("Sigma", "Σ"),
    ("Phi", "Φ"),
    ("Psi", "Ψ"),
    ("Omega", "Ω"),
    ("times", "×"),
    ("cdot", "·"),
    ("div", "÷"),
    ("pm", "±"),
    ("mp", "∓"),
    ("le", "≤"),
    ("leq", "≤"),
    ("ge", "≥"),
    ("geq", "≥"),
    ("ne", "≠"),
    ("neq", "≠"),
    ("approx", "≈"),
    ("sim", "~"),
    ("simeq", "≃"),
    ("equiv", "≡"),
    ("propto", "∝"),
    ("ll", "≪"),
    ("gg", "≫"),
    ("infty", "∞"),
    ("sum", "∑"),
    ("prod", "∏"),
    ("int", "∫"),
    ("partial", "∂"),
    ("nabla", "∇"),
    ("to", "→"),
    ("rightarrow", "→"),
    ("longrightarrow", "→"),
    ("Rightarrow", "⇒"),
    ("implies", "⇒"),
    ("leftarrow", "←"),
    ("Leftarrow", "⇐"),
    ("leftrightarrow", "↔"),
    ("iff", "⇔"),
    ("mapsto", "↦"),
    ("uparrow", "↑"),
    ("downarrow", "↓"),
    ("in", "∈"),
    ("notin", "∉"),
    ("subset", "⊂"),
    ("subseteq", "⊆"),
    ("cup", "∪"),
    ("cap", "∩"),
    ("emptyset", "∅"),
    ("forall", "∀"),
    ("exists", "∃"),
    ("land", "∧"),
    ("lor", "∨"),
    ("neg", "¬"),
    ("ldots", "…"),
    ("dots", "…"),
    ("cdots", "⋯"),
    ("circ", "°"),
    ("degree", "°"),
    ("star", "⋆"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_read_as_people_write_them_in_a_chat() {
        for (tex, text) in [
            (r"\frac{a+b}{2}", "(a+b)/2"),
            (r"E = mc^2", "E = mc²"),
            (r"\sum_{i=1}^{n} x_i \leq \sqrt{10}", "∑ᵢ₌₁ⁿ xᵢ ≤ √10"),
            (r"\text{cost} \times 1.2\%", "cost × 1.2%"),
            (r"O(n \log n)", "O(n log n)"),
            (r"x_{\max} \to \infty", "xₘₐₓ → ∞"),
            (r"\left( \alpha + \beta \right)^{2}", "( α + β )²"),
            (r"\frac12", "1/2"),
            (r"a \\ b", "a ; b"),
            (r"\mathbb{R}^{d}", "Rᵈ"),
            (r"90^\circ", "90°"),
            (r"\", ""),
            ("{{{", ""),
        ] {
            assert_eq!(plain(tex), text, "{tex}");
        }
    }

    #[test]
    fn prices_patterns_and_variables_of_a_shell_are_no_formulas() {
        for text in ["5 and ", "HOME/", "5-", "a_b", r"a\\b", r"< \_{", "", "|^bar", "[^a]", "^bar", "^", "_{a}"] {
            assert!(!is_formula(text), "{text}");
        }
        for text in [r"\alpha", "x^2", "x_{ij}", "(a+b)^2", "x_{i}^n", "^2", "^{nd}"] {
            assert!(is_formula(text), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_formula_is_read_without_its_marks(tex in r"([a-z0-9 ]|\\[a-z]{1,5}|\\|[{}^_&$~]){0,60}") {
            let text = plain(&tex);
            proptest::prop_assert!(!text.contains('\\'), "{text}");
        }

        #[test]
        fn groups_in_groups_end(depth in 0_usize..3000) {
            plain(&format!("{}x", "{".repeat(depth)));
            plain(&format!("{}x", r"^\sqrt".repeat(depth / 3)));
        }
    }
}
