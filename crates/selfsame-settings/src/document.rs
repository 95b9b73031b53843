//! A settings file as text: every wrong line of it, and the lines of its settings.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use crate::remedy::remedy;

/// Maximum number of wrong lines that are told.
const FAULTS_MAX: usize = 100;

/// A settings file.
pub struct SettingsDocument<'a> {
    text: &'a str,
    table: Spanned<DeTable<'a>>,
    malformed: Vec<Error>,
}

/// A wrong line.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct WrongLine {
    /// Its number, counted from 1; `None` if the whole file is meant.
    pub line: Option<usize>,
    /// The section and the setting, such as `[trust] issuers`; empty if there is none.
    pub setting: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

/// A setting of the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamedSetting {
    /// The number of its line, counted from 1.
    pub line: usize,
    /// Its path, such as `trust.issuers`.
    pub path: String,
    /// The section and the setting, as a person writes them.
    pub setting: String,
}

/// Where a setting is: its sections, and whether they are lists of tables.
#[derive(Clone, Default)]
struct SettingPlace {
    names: Vec<String>,
    is_list: bool,
}

impl SettingPlace {
    fn below(&self, name: &str, is_list: bool) -> Self {
        let mut names = self.names.clone();
        names.push(name.to_owned());
        Self { names, is_list }
    }

    fn section(&self) -> String {
        let path = self.names.join(".");
        match (path.is_empty(), self.is_list) {
            (true, _) => path,
            (false, true) => format!("[[{path}]]"),
            (false, false) => format!("[{path}]"),
        }
    }

    fn setting(&self, name: &str) -> String {
        format!("{} {name}", self.section()).trim_start().to_owned()
    }
}

impl<'a> SettingsDocument<'a> {
    /// A file with this content.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        let (table, malformed) = DeTable::parse_recoverable(text);
        Self {
            text,
            table,
            malformed,
        }
    }

    /// Every wrong line: the lines that are no TOML, or else the settings that a `T` has no place for.
    #[must_use]
    pub fn faults<T: DeserializeOwned>(&self) -> Vec<WrongLine> {
        if !self.malformed.is_empty() {
            let malformed = self.malformed.iter().take(FAULTS_MAX);
            let mut faults: Vec<WrongLine> = malformed.map(|error| self.malformed(error)).collect();
            faults.sort_by_key(|fault| fault.line);
            return faults;
        }
        let mut rest = self.table.clone();
        let mut faults: Vec<WrongLine> = Vec::new();
        while faults.len() < FAULTS_MAX {
            let Err(error) = T::deserialize(Deserializer::from(rest.clone())) else {
                break;
            };
            let span = error.span().unwrap_or_default();
            let taken = take(rest.get_mut(), &span, &SettingPlace::default());
            let place = taken.unwrap_or_default();
            let fault = WrongLine {
                line: (!place.setting.is_empty())
                    .then(|| self.line(place.at.unwrap_or(span.start))),
                message: error.message().to_owned(),
                remedy: remedy(error.message(), &place.section),
                setting: place.setting,
            };
            // A required setting whose value was wrong is missing once it is taken out.
            let earlier = faults.iter().find(|earlier| is_required(&fault, earlier));
            let is_taken = !fault.setting.is_empty()
                || earlier.is_some_and(|earlier| take_section(rest.get_mut(), &earlier.setting));
            if earlier.is_none() {
                faults.push(fault);
            }
            if !is_taken {
                break;
            }
        }
        faults.sort_by_key(|fault| fault.line);
        faults
    }

    /// The settings that the file has, in its order.
    #[must_use]
    pub fn settings(&self) -> Vec<NamedSetting> {
        let mut named = Vec::new();
        self.gather(self.table.get_ref(), &SettingPlace::default(), &mut named);
        named.sort_by_key(|named| named.line);
        named
    }

    /// The fault that this message tells, which begins with the setting that it is about, or contains its value.
    #[must_use]
    pub fn located(&self, message: &str, hint: Option<&str>) -> WrongLine {
        let settings = self.settings();
        let begins = |named: &&NamedSetting| {
            let rest = message.strip_prefix(&named.setting);
            rest.is_some_and(|rest| {
                !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
            })
        };
        let found = settings
            .iter()
            .filter(begins)
            .max_by_key(|named| named.setting.len());
        let mut texts = Vec::new();
        texts_of(self.table.get_ref(), &mut texts);
        let contained = texts
            .iter()
            .filter(|(text, _)| text.len() > 2 && message.contains(text.as_str()))
            .max_by_key(|(text, _)| text.len());
        let by_value = contained.map(|(_, at)| self.line(*at));
        let by_value = by_value.and_then(|line| settings.iter().rfind(|named| named.line <= line));
        let named = found.or(by_value);
        let stands = named.map_or("", |named| named.setting.as_str());
        let message = message.strip_prefix(stands).unwrap_or(message);
        WrongLine {
            line: named.map(|named| named.line),
            setting: stands.to_owned(),
            message: message.trim_start_matches([':', ' ']).to_owned(),
            remedy: hint.map_or_else(|| remedy("", stands), str::to_owned),
        }
    }

    fn malformed(&self, error: &Error) -> WrongLine {
        let at = error.span().map(|span| self.line(span.start));
        WrongLine {
            line: at,
            setting: String::new(),
            message: error.message().to_owned(),
            remedy: "write it as TOML: name = \"text\", name = 1, or [section]".to_owned(),
        }
    }

    fn gather(&self, table: &DeTable<'_>, at: &SettingPlace, named: &mut Vec<NamedSetting>) {
        for (key, value) in table {
            let name: &str = key.get_ref();
            match value.get_ref() {
                DeValue::Table(inner) => self.gather(inner, &at.below(name, false), named),
                DeValue::Array(items) if is_tables(value.get_ref()) => {
                    for item in items.iter() {
                        if let DeValue::Table(inner) = item.get_ref() {
                            self.gather(inner, &at.below(name, true), named);
                        }
                    }
                }
                _ => named.push(NamedSetting {
                    line: self.line(key.span().start),
                    path: at.below(name, false).names.join("."),
                    setting: at.setting(name),
                }),
            }
        }
    }

    /// The number of the line with this byte.
    fn line(&self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        before
            .filter(|byte| **byte == b'\n')
            .count()
            .saturating_add(1)
    }
}

/// Whether a fault only says that a setting is missing whose value was wrong.
fn is_required(fault: &WrongLine, earlier: &WrongLine) -> bool {
    let missing = fault.message.strip_prefix("missing field `");
    let missing = missing.and_then(|rest| rest.split('`').next());
    missing.is_some_and(|name| earlier.setting.ends_with(&format!(" {name}")))
}

/// Takes the whole first section out that a setting such as `[[registry.nodes]] url` is in.
fn take_section(table: &mut DeTable<'_>, setting: &str) -> bool {
    let name = setting.trim_start_matches('[').split(['.', ']']).next();
    let mut keys = table.keys();
    let key = keys
        .find(|key| Some(key.get_ref().as_ref()) == name)
        .cloned();
    key.is_some_and(|key| table.remove(&key).is_some())
}

/// What was taken out of a table.
#[derive(Default)]
struct TakenSetting {
    section: String,
    setting: String,
    at: Option<usize>,
}

/// Takes the innermost setting out that an error points to.
fn take(table: &mut DeTable<'_>, span: &Range<usize>, at: &SettingPlace) -> Option<TakenSetting> {
    let is_at =
        |own: Range<usize>| own.start <= span.start && span.start < own.end.max(own.start + 1);
    let mut found = None;
    for (key, value) in table.iter_mut() {
        let name: &str = key.get_ref();
        let mut spans = vec![key.span(), value.span()];
        if let DeValue::Array(items) = value.get_ref() {
            spans.extend(items.iter().map(Spanned::span));
        }
        let inner = match value.get_mut() {
            DeValue::Table(inner) => take(inner, span, &at.below(name, false)),
            DeValue::Array(items) => {
                let below = at.below(name, true);
                let mut tables = items.iter_mut().filter_map(|item| match item.get_mut() {
                    DeValue::Table(inner) => Some(inner),
                    _ => None,
                });
                tables.find_map(|inner| take(inner, span, &below))
            }
            _ => None,
        };
        if inner.is_some() {
            return inner;
        }
        if spans.into_iter().any(is_at) {
            found = Some((key.clone(), key.span().start));
        }
    }
    let (key, start) = found?;
    let name = key.get_ref().to_string();
    let is_section = matches!(
        table.get(&key).map(Spanned::get_ref),
        Some(DeValue::Table(_))
    );
    let is_list = table
        .get(&key)
        .is_some_and(|value| is_tables(value.get_ref()));
    table.remove(&key);
    let (section, setting) = match is_section || is_list {
        true => {
            let section = at.below(&name, is_list).section();
            (section.clone(), section)
        }
        false => (at.section(), at.setting(&name)),
    };
    // The table itself may be meant, of which a setting is missing.
    Some(TakenSetting {
        section,
        setting,
        at: Some(start),
    })
}

fn is_tables(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Array(items) => {
            !items.is_empty()
                && items
                    .iter()
                    .all(|item| matches!(item.get_ref(), DeValue::Table(_)))
        }
        _ => false,
    }
}

/// The texts of a table, and where they are.
fn texts_of(table: &DeTable<'_>, texts: &mut Vec<(String, usize)>) {
    for value in table.values() {
        texts_in(value, texts);
    }
}

fn texts_in(value: &Spanned<DeValue<'_>>, texts: &mut Vec<(String, usize)>) {
    match value.get_ref() {
        DeValue::String(text) => texts.push((text.to_string(), value.span().start)),
        DeValue::Array(items) => items.iter().for_each(|item| texts_in(item, texts)),
        DeValue::Table(inner) => texts_of(inner, texts),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
