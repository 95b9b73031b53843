//! An answer of an endpoint.

/// An HTTP answer.
#[derive(Clone, Copy, Debug)]
pub struct HttpAnswer<'a> {
    /// The status code.
    pub status: u16,
    /// The content type.
    pub content_type: Option<&'a str>,
    /// The body.
    pub body: &'a [u8],
}
