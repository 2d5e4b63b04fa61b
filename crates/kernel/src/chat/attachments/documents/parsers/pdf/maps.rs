//! What maps of codes to characters cost, before they are read.

/// The limit of codes of three and four bytes that the ranges of a map have together. lopdf makes a list of all.
const LONG: u64 = 65_536;

/// Whether the ranges of a map, such as `<00000000> <0000FFFF>`, have too many codes. There are few codes of one or two bytes.
pub(in super::super) fn is_too_large(map: &[u8]) -> bool {
    let (mut codes, mut is_list) = (0_u64, false);
    for (at, byte) in map.iter().enumerate() {
        match byte {
            // A list of characters, which may be as long as codes are. It ends in its line.
            b'[' => is_list = true,
            b'<' if !is_list => codes = codes.saturating_add(count(&map[at..]).unwrap_or(0)),
            b'<' | b'>' | b' ' | b'\t' | b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => {}
            _ => is_list = false,
        }
    }
    codes > LONG
}

/// How many codes a range of long codes has. None: no such range starts here.
fn count(bytes: &[u8]) -> Option<u64> {
    let (first, rest) = long_code(bytes)?;
    let (last, _) = long_code(rest)?;
    Some(u64::from(last.saturating_sub(first)) + 1)
}

/// A code of three or four bytes, and what follows it.
fn long_code(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let rest = bytes.strip_prefix(b"<")?;
    let length = [6, 8].into_iter().find(|length| rest.get(*length) == Some(&b'>'))?;
    let code = u32::from_str_radix(std::str::from_utf8(&rest[..length]).ok()?, 16).ok()?;
    let after = &rest[length + 1..];
    let blanks = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    Some((code, &after[blanks..]))
}
