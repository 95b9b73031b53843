//! A document as it is given to the library: checked for what would be dropped, with the context that finds undefined
//! terms before its own.

mod types;

use selfsame_crypto::json::{canonical, to_bytes};
use serde_json::{Map, Number, Value, json};

use crate::IntegrityError;
use crate::contexts::{
    Contexts, OF_DOCUMENT_MAX, ScopedTypes, UNDEFINED, check_local, is_keyword_like, vocabulary,
};

use types::JoinedTypes;

pub(super) use types::prefix as types_prefix;

/// Objects of one document, at most: each may cost the processing of a context.
const OBJECTS_MAX: usize = 512;
/// Members of the contexts that stand in a document, at most: each object may cost a copy of them.
const TERMS_MAX: usize = 512;
/// Beyond this, a double is not every integer.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
/// From here on an integer is written as a double (JSON-LD 1.1 API §10.6).
const LONG: f64 = 1e21;

/// A document's text for the library.
pub(super) struct WrittenDocument {
    pub text: Vec<u8>,
    /// How many types were added (see [`types`]).
    pub joined: usize,
}

/// Writes a document for the library.
pub(super) fn written(
    document: &Map<String, Value>,
    contexts: &Contexts,
) -> Result<WrittenDocument, IntegrityError> {
    let mut seen = DocumentSize {
        contexts,
        scoped: ScopedTypes::default(),
        contexts_left: OF_DOCUMENT_MAX,
        objects_left: OBJECTS_MAX,
        terms_left: TERMS_MAX,
    };
    seen.object(document)?;
    let joined = JoinedTypes::of(document, &seen.scoped)?;
    let mut writer = DocumentWriter {
        text: Vec::with_capacity(2048),
        joined,
    };
    writer.object(document, true)?;
    Ok(WrittenDocument {
        text: writer.text,
        joined: writer.joined.count(),
    })
}

/// What a first look at the document has seen: its contexts and its size.
struct DocumentSize<'c> {
    contexts: &'c Contexts,
    scoped: ScopedTypes,
    contexts_left: usize,
    objects_left: usize,
    terms_left: usize,
}

impl DocumentSize<'_> {
    fn object(&mut self, members: &Map<String, Value>) -> Result<(), IntegrityError> {
        let left = self.objects_left.checked_sub(1);
        self.objects_left = left.ok_or(IntegrityError::TooMany("objects"))?;
        for (name, value) in members {
            if name == "@context" {
                self.context(value)?;
            } else {
                self.value(value)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Value) -> Result<(), IntegrityError> {
        match value {
            Value::Object(members) => self.object(members),
            Value::Array(elements) => elements.iter().try_for_each(|one| self.value(one)),
            _ => Ok(()),
        }
    }

    fn context(&mut self, context: &Value) -> Result<(), IntegrityError> {
        for one in listed(context) {
            let left = self.contexts_left.checked_sub(1);
            self.contexts_left = left.ok_or(IntegrityError::TooMany("@context"))?;
            match one {
                Value::String(url) => {
                    let scoped = self.contexts.scoped(url);
                    let unknown = || IntegrityError::UnknownContext(url.clone());
                    self.scoped.add_all(scoped.ok_or_else(unknown)?);
                }
                one => {
                    let left = self.terms_left.checked_sub(members_of(one));
                    self.terms_left = left.ok_or(IntegrityError::TooMany("terms"))?;
                    check_local(one, &mut self.scoped)?;
                }
            }
        }
        Ok(())
    }
}

struct DocumentWriter {
    text: Vec<u8>,
    joined: JoinedTypes,
}

impl DocumentWriter {
    fn object(
        &mut self,
        members: &Map<String, Value>,
        is_root: bool,
    ) -> Result<(), IntegrityError> {
        if members.contains_key("@language") && !members.contains_key("@value") {
            return Err(IntegrityError::DataLoss("@language".to_owned()));
        }
        self.text.push(b'{');
        let mut is_first = true;
        if is_root && !members.contains_key("@context") {
            self.context(&Value::Array(Vec::new()), true);
            is_first = false;
        }
        for (name, value) in members {
            if !std::mem::take(&mut is_first) {
                self.text.push(b',');
            }
            if name == "@context" {
                self.context(value, is_root);
            } else {
                self.name(name)?;
                self.member(name, value)?;
            }
        }
        self.text.push(b'}');
        Ok(())
    }

    /// A context, with ours before it at the root and the joined types after it.
    fn context(&mut self, own: &Value, is_root: bool) {
        let mut all = Vec::new();
        if is_root {
            all.push(json!({ "@vocab": vocabulary() }));
        }
        all.extend(listed(own).iter().cloned());
        all.extend(self.joined.context());
        self.text.extend_from_slice(b"\"@context\":");
        self.text.extend(to_bytes(&Value::Array(all)));
    }

    fn name(&mut self, name: &str) -> Result<(), IntegrityError> {
        let known = ["@id", "@type", "@value", "@language", "@list"];
        if is_keyword_like(name) && !known.contains(&name) {
            return Err(IntegrityError::DataLoss(name.to_owned()));
        }
        canonical::write_string(name, &mut self.text);
        self.text.push(b':');
        Ok(())
    }

    fn member(&mut self, name: &str, value: &Value) -> Result<(), IntegrityError> {
        let Value::Array(elements) = value else {
            return self.value(name, value);
        };
        if elements.is_empty() && name != "@list" {
            return Err(IntegrityError::DataLoss(name.to_owned()));
        }
        match self.joined.with(elements) {
            Some(more) => self.value(name, &more),
            None => self.value(name, value),
        }
    }

    fn value(&mut self, name: &str, value: &Value) -> Result<(), IntegrityError> {
        match value {
            Value::Null => return Err(IntegrityError::DataLoss(name.to_owned())),
            Value::Bool(one) => self.text.extend(one.to_string().bytes()),
            Value::Number(number) => self.number(name, number)?,
            Value::String(text) if is_keyword_like(text) || text.starts_with(UNDEFINED) => {
                return Err(IntegrityError::DataLoss(name.to_owned()));
            }
            Value::String(text) => canonical::write_string(text, &mut self.text),
            Value::Array(elements) => {
                self.text.push(b'[');
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        self.text.push(b',');
                    }
                    self.value(name, element)?;
                }
                self.text.push(b']');
            }
            Value::Object(members) => self.object(members, false)?,
        }
        Ok(())
    }

    /// A number with 16 digits at most, as the canonical form of doubles has them (JSON-LD 1.1 API §10.6). One that
    /// needs more is refused, because another would have its text.
    fn number(&mut self, name: &str, number: &Number) -> Result<(), IntegrityError> {
        let lost = || IntegrityError::DataLoss(name.to_owned());
        let value = canonical::exact(number).ok_or_else(lost)?;
        if value.fract() == 0.0 && value.abs() < EXACT_MAX {
            self.text.extend(format!("{value:.0}").bytes());
            return Ok(());
        }
        let written = format!("{value:.15e}");
        let is_faithful = written.parse::<f64>().is_ok_and(|again| again == value);
        let is_short = value.abs() < EXACT_MAX || value.abs() >= LONG;
        if !is_faithful || !is_short {
            return Err(lost());
        }
        self.text.extend(written.bytes());
        Ok(())
    }
}

/// How many members a value has, those of the objects in it included.
fn members_of(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let inner = members.values().map(members_of);
            inner.fold(members.len(), usize::saturating_add)
        }
        Value::Array(elements) => elements
            .iter()
            .map(members_of)
            .fold(0, usize::saturating_add),
        _ => 0,
    }
}

fn listed(value: &Value) -> &[Value] {
    match value {
        Value::Array(several) => several,
        one => std::slice::from_ref(one),
    }
}
