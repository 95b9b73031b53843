//! Extractors: parse bytes into types that cannot be invalid, at the edge and nowhere later.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use selfsame_crypto::json::{self, Limits};
use serde::de::DeserializeOwned;

use crate::arrival::TooLarge;
use crate::error::Problem;
use crate::form_data::{self, FormPart, PartContent};

pub use crate::form_data::UploadedFile;

/// A JSON body. Duplicate members, deep nesting and other content types are refused.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_kind(request.headers(), "application/json") {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "body-not-json",
            ));
        }
        let Raw(body) = Raw::from_request(request, state).await?;
        json::parse_as(&body, &Limits::default())
            .map(Self)
            .map_err(|error| Problem::bad_request("body-invalid").with("detail", &error))
    }
}

/// The raw body, within the route group's limit.
pub struct Raw(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if request.extensions().get::<TooLarge>().is_some() {
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "body-too-large",
            ));
        }
        let body = Bytes::from_request(request, state).await;
        body.map(Self)
            .map_err(|refused| Problem::new(refused.status(), "body-cut-off"))
    }
}

/// A submitted form: each field's values, in their order, and the files of a form that sends some.
#[derive(Debug, Default)]
pub struct Form {
    fields: BTreeMap<String, Vec<String>>,
    files: BTreeMap<String, UploadedFile>,
}

impl Form {
    /// The only value of a field, trimmed; `None` if it is absent, empty or repeated.
    pub fn one(&self, name: &str) -> Option<&str> {
        match self.fields.get(name).map(Vec::as_slice) {
            Some([value]) => Some(value.trim()).filter(|value| !value.is_empty()),
            _ => None,
        }
    }

    /// The only value of a field, untrimmed: for passwords.
    ///
    /// # Errors
    /// If it is absent or repeated.
    pub fn verbatim(&self, name: &str) -> Result<&str, Problem> {
        match self.fields.get(name).map(Vec::as_slice) {
            Some([value]) => Ok(value),
            _ => Err(Problem::bad_request("field-missing").with("field", &name)),
        }
    }

    /// [`Self::one`], where a field must be filled.
    ///
    /// # Errors
    /// If it is absent, empty or repeated; the error names the field.
    pub fn needed(&self, name: &str) -> Result<&str, Problem> {
        self.one(name)
            .ok_or_else(|| Problem::bad_request("field-missing").with("field", &name))
    }

    /// Whether a check box is set.
    pub fn checked(&self, name: &str) -> bool {
        self.one(name) == Some("true")
    }

    /// All values of a field.
    pub fn all(&self, name: &str) -> &[String] {
        self.fields.get(name).map_or(&[], Vec::as_slice)
    }

    /// The file of a field, unless none was chosen.
    pub fn file(&self, name: &str) -> Option<&UploadedFile> {
        let file = self.files.get(name)?;
        (!file.name.is_empty() || !file.bytes.is_empty()).then_some(file)
    }

    /// Fields whose names start with `prefix`: the rest of the name, and their only value.
    pub fn starting<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.fields
            .keys()
            .filter_map(move |name| Some((name.strip_prefix(prefix)?, self.one(name)?)))
    }
}

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).map(str::to_owned);
        let kind = kind.unwrap_or_default();
        if !is_form(&kind) {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "form-expected",
            ));
        }
        let Raw(body) = Raw::from_request(request, state).await?;
        let parts = parts(&kind, &body);
        let parts = parts.ok_or_else(|| Problem::bad_request("form-malformed"))?;
        let mut form = Self::default();
        for FormPart { name, content } in parts {
            match content {
                PartContent::Value(value) => form.fields.entry(name).or_default().push(value),
                PartContent::File(file) => {
                    form.files.insert(name, file);
                }
            }
        }
        Ok(form)
    }
}

/// Whether a content type is that of a form.
pub(crate) fn is_form(content_type: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    ["application/x-www-form-urlencoded", "multipart/form-data"]
        .iter()
        .any(|known| kind.eq_ignore_ascii_case(known))
}

/// The parts of a form with this content type; `None` if it is malformed.
pub(crate) fn parts(content_type: &str, body: &[u8]) -> Option<Vec<FormPart>> {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("multipart/form-data") {
        return form_data::parse(content_type, body);
    }
    let pairs = url::form_urlencoded::parse(body);
    let part = |(name, value): (Cow<'_, str>, Cow<'_, str>)| FormPart {
        name: name.into_owned(),
        content: PartContent::Value(value.into_owned()),
    };
    Some(pairs.map(part).collect())
}

/// The parameters of an address's path; 404 if they do not parse.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let places = extract::Path::from_request_parts(parts, state).await;
        places
            .map(|extract::Path(value)| Self(value))
            .map_err(|_| Problem::new(StatusCode::NOT_FOUND, "address-unknown"))
    }
}

/// The query of an address.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        json::pairs_as(pairs)
            .map(Self)
            .map_err(|misfit| Problem::bad_request("query-invalid").with("detail", &misfit))
    }
}

/// Whether the content type is `kind`, ignoring parameters.
pub fn is_kind(headers: &HeaderMap, kind: &str) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|value| value.trim().eq_ignore_ascii_case(kind))
}

/// The token of `Authorization: Bearer …`.
pub fn bearer(authorization: &HeaderValue) -> Option<&str> {
    after(authorization, "bearer")
}

/// What follows a scheme in the header `Authorization`.
pub fn after<'h>(authorization: &'h HeaderValue, scheme: &str) -> Option<&'h str> {
    let (named, rest) = authorization.to_str().ok()?.split_once(' ')?;
    named.eq_ignore_ascii_case(scheme).then_some(rest.trim())
}
