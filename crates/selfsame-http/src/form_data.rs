//! Forms with files: `multipart/form-data` (RFC 7578) that has arrived whole.

/// Maximum number of parts.
const PARTS_MAX: usize = 10_000;
/// Maximum number of bytes of a boundary (RFC 2046 §5.1.1).
const BOUNDARY_MAX: usize = 70;

/// A file of a form.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UploadedFile {
    /// Its name on the sender's machine; never a path to use.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A field of a form, or a file.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct FormPart {
    /// The name of the field.
    pub name: String,
    /// What was sent.
    pub content: PartContent,
}

/// What a part contains.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum PartContent {
    /// The value of a field.
    Value(String),
    /// A file.
    File(UploadedFile),
}

/// The parts of a body with this content type; `None` if it is not a form with files, or malformed.
pub(crate) fn parse(content_type: &str, body: &[u8]) -> Option<Vec<FormPart>> {
    let boundary = boundary(content_type)?;
    let opening = format!("--{boundary}");
    let delimiter = format!("\r\n{opening}");
    let mut rest = body.strip_prefix(opening.as_bytes())?;
    let mut parts = Vec::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let (head, content) = match part.strip_prefix(b"\r\n") {
            Some(content) => (&b""[..], content),
            None => split(part, b"\r\n\r\n")?,
        };
        let (content, after) = split(content, delimiter.as_bytes())?;
        if parts.len() == PARTS_MAX {
            return None;
        }
        parts.push(form_part(std::str::from_utf8(head).ok()?, content)?);
        rest = after;
    }
    rest.starts_with(b"--").then_some(parts)
}

fn boundary(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let named = |parameter: &'_ str| {
        parameter
            .trim()
            .to_ascii_lowercase()
            .starts_with("boundary=")
    };
    let parameter = parameters.split(';').find(|one| named(one))?;
    let (_, value) = parameter.split_once('=')?;
    let value = value.trim().trim_matches('"');
    let fits =
        (1..=BOUNDARY_MAX).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_graphic());
    fits.then_some(value)
}

/// What stands before and after the first occurrence of `by`.
fn split<'a>(bytes: &'a [u8], by: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = bytes.windows(by.len()).position(|window| window == by)?;
    let (before, rest) = bytes.split_at_checked(at)?;
    Some((before, rest.strip_prefix(by)?))
}

fn form_part(head: &str, content: &[u8]) -> Option<FormPart> {
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_it = name.trim().eq_ignore_ascii_case("content-disposition");
        is_it.then(|| value.trim())
    })?;
    let parameters = disposition.strip_prefix("form-data")?;
    let name = parameter(parameters, "; name=\"")?;
    let content = match parameter(parameters, "; filename=\"") {
        Some(file) => PartContent::File(UploadedFile {
            name: file,
            bytes: content.to_vec(),
        }),
        None => PartContent::Value(std::str::from_utf8(content).ok()?.to_owned()),
    };
    Some(FormPart { name, content })
}

/// A parameter in quotes. Browsers write quotes and line ends in names as `%22`, `%0D` and `%0A` (RFC 7578 §4.2).
fn parameter(parameters: &str, start: &str) -> Option<String> {
    let (_, rest) = parameters.split_once(start)?;
    let (value, _) = rest.split_once('"')?;
    Some(
        value
            .replace("%22", "\"")
            .replace("%0D", "\r")
            .replace("%0A", "\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=XyZ";

    fn body(parts: &[&str]) -> String {
        let parts: String = parts
            .iter()
            .map(|part| format!("--XyZ\r\n{part}\r\n"))
            .collect();
        format!("{parts}--XyZ--\r\n")
    }

    #[test]
    fn fields_and_files_are_read_as_browsers_send_them() {
        let body = body(&[
            "Content-Disposition: form-data; name=\"a\"\r\n\r\none\r\ntwo -- --XyZ",
            "Content-Disposition: form-data; name=\"b%22\"; filename=\"x.png\"\r\nContent-Type: image/png\r\n\r\n\0\r\n",
            "Content-Disposition: form-data; name=\"c\"\r\n\r\n",
        ]);
        let parts = parse(KIND, body.as_bytes()).unwrap();
        assert_eq!(parts.len(), 3);
        assert_eq!(
            parts[0].content,
            PartContent::Value("one\r\ntwo -- --XyZ".to_owned())
        );
        assert_eq!(parts[1].name, "b\"");
        let file = UploadedFile {
            name: "x.png".to_owned(),
            bytes: b"\0\r\n".to_vec(),
        };
        assert_eq!(parts[1].content, PartContent::File(file));
        assert_eq!(parts[2].content, PartContent::Value(String::new()));
    }

    #[test]
    fn a_malformed_body_is_refused() {
        let whole = body(&["Content-Disposition: form-data; name=\"a\"\r\n\r\none"]);
        assert!(parse(KIND, whole.as_bytes()).is_some());
        for end in 0..whole.len() - 4 {
            assert!(
                parse(KIND, &whole.as_bytes()[..end]).is_none(),
                "cut off at {end}"
            );
        }
        for (kind, body) in [
            ("multipart/form-data", whole.as_str()),
            ("multipart/form-data; boundary=", "--\r\n----"),
            ("multipart/mixed; boundary=XyZ", whole.as_str()),
            ("multipart/form-data; boundary=other", whole.as_str()),
            (
                KIND,
                "--XyZ\r\nContent-Disposition: attachment\r\n\r\nx\r\n--XyZ--",
            ),
            (KIND, "--XyZ\r\n\r\nx\r\n--XyZ--"),
        ] {
            assert!(parse(kind, body.as_bytes()).is_none(), "{kind}: {body}");
        }
    }
}
