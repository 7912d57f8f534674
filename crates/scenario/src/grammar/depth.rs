//! Nesting depth of tables and lists, checked before a text is parsed: code that traverses or drops a tree
//! uses stack space for each level.

/// The maximum nesting depth of tables and lists.
pub const DEEPEST: usize = 64;

/// The position where a TOML text first nests deeper than [`DEEPEST`]; each dot of a key is a level.
pub fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut open, mut depth, mut dots, mut at) = (Vec::new(), 0, 0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'#' => at = end_of_line(bytes, at),
            b'"' | b'\'' => at = end_of_text(bytes, at),
            b'[' | b'{' => {
                open.push(dots + 1);
                depth += dots + 1;
                dots = 0;
            }
            b']' | b'}' => depth -= open.pop().unwrap_or(0),
            b'.' => dots += 1,
            _ => {}
        }
        if matches!(bytes.get(at), Some(b',' | b'\n' | b']' | b'}')) {
            dots = 0;
        }
        if depth + dots > DEEPEST {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
}

/// The last byte of the text that begins here with one quotation mark or three; a text with one ends at the
/// end of the line.
fn end_of_text(bytes: &[u8], begin: usize) -> usize {
    let mark = bytes[begin];
    let is_block = bytes[begin..].starts_with(&[mark; 3]);
    let mut at = begin + if is_block { 3 } else { 1 };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if mark == b'"' => at += 1,
            b'\n' if !is_block => return at,
            _ if byte == mark && !is_block => return at,
            _ if byte == mark && bytes[at..].starts_with(&[mark; 3]) => return at + 2,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_dots_are_levels_outside_of_texts_and_comments() {
        let nested = |n: usize| format!("a = {}{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(too_deep(&nested(DEEPEST)), None);
        assert_eq!(too_deep(&nested(DEEPEST + 1)), Some(4 + DEEPEST));
        let keys = |n: usize| "a.".repeat(n) + "b = 1\n";
        assert_eq!(too_deep(&keys(DEEPEST).repeat(3)), None);
        assert!(too_deep(&keys(DEEPEST + 1)).is_some());
        assert!(too_deep(&format!("x.y = {{ {}", keys(DEEPEST - 1))).is_some());
        for begin in ["# ", "a = \"", "a = '", "a = \"\"\"\n\\\"", "a = '''\n''"] {
            assert_eq!(too_deep(&format!("{begin}{}", "[".repeat(100))), None, "{begin}");
        }
        for over in ["# \n", "a = \"\\\"\"", "a = '\n", "a = \"\"\"\"\"\"", "a = ''''''"] {
            assert!(too_deep(&format!("{over}{}", "[".repeat(100))).is_some(), "{over}");
        }
        assert_eq!(too_deep(&"[1.5, 2.5, [3.5]],\n".repeat(100)), None);
    }
}
