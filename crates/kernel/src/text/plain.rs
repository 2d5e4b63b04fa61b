//! The plain letters of decorated names.

use std::borrow::Cow;

use icu_normalizer::ComposingNormalizer;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// Small capitals, which Unicode does not relate to the letters that they look like.
const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ";
const SMALL_LETTERS: &str = "abcdefghijklmnopqrstuvwyz";

/// The plain letters of a decorated name: `🌸 𝓐𝓷𝓷 ★` is `Ann`. A name without letters and digits stays as it is.
pub fn plain_letters(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().filter(|c| !is_ornament(*c)).map(plain_letter).collect::<String>();
    let plain: String = ComposingNormalizer::new_nfkc().normalize(&letters).chars().filter(|c| !is_overlay(*c)).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if plain.contains(char::is_alphanumeric) { Cow::Owned(plain) } else { Cow::Borrowed(name) }
}

/// White and black squares and circles around capital letters. Unicode relates only some of them to the letters.
fn plain_letter(c: char) -> char {
    let framed = [0x1_F130, 0x1_F150, 0x1_F170].into_iter().find_map(|first| u32::from(c).checked_sub(first).filter(|letter| *letter < 26));
    let framed = framed.and_then(|letter| char::from_u32(u32::from('A') + letter));
    let small = || SMALL_CAPITALS.chars().position(|small| small == c).and_then(|place| SMALL_LETTERS.chars().nth(place));
    framed.or_else(small).unwrap_or(c)
}

/// Emojis and other signs that are no letters.
fn is_ornament(c: char) -> bool {
    let is_sign = || GeneralCategoryGroup::Symbol.contains(CodePointMapData::<GeneralCategory>::new().get(c));
    !c.is_ascii() && plain_letter(c) == c && !c.is_alphanumeric() && is_sign()
}

/// Lines and dots over and through letters. Those of a writing, such as accents, are part of a letter by now.
fn is_overlay(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{488}' | '\u{489}' | '\u{20D0}'..='\u{20FF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decorated_name_is_found_by_its_plain_letters() {
        for name in ["Ann", "🌸 Ann 🌸", "𝓐𝓷𝓷", "𝔸𝕟𝕟", "Ⓐⓝⓝ", "Ａｎｎ", "★ Ann ★", "A̶n̶n̶", "🅰🅽🅽", "🄰🄽🄽", "Aɴɴ", "Ann 🇫🇷", "Ann™"]
        {
            assert_eq!(plain_letters(name).to_lowercase(), "ann", "{name}");
        }
    }

    #[test]
    fn letters_of_other_writings_stay_and_so_does_a_name_of_emojis() {
        for name in ["Zoé", "Sofía Núñez", "Анна", "प्रिया", "محمد", "小美", "さくら", "🌸", "★", ""] {
            assert_eq!(plain_letters(name), name);
        }
    }
}
