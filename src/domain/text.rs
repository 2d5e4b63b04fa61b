//! Rules of text that decisions rest on.

/// Characters that show nothing and could hide or reverse text: zero-width, direction marks, tags, control characters.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
        || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// The text without what does not show.
pub fn without_invisible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

/// A name as names are compared: no invisible characters, no case, no `@`, no surrounding space.
pub fn fold_name(name: &str) -> String {
    without_invisible(name).trim().trim_start_matches('@').to_lowercase()
}
