//! A form that was sent, and what its buttons do.

use selfsame_credential::Format;

use super::rows::{ClaimRow, default_disclosed};
use super::{TextPair, TypeForm};
use crate::formats::{ANONCREDS, TypeFormats};
use crate::model::{ClaimKind, Disclosed, TypeDefinition};

/// Maximum number of rows that are read; more claims than a type can have.
const ROWS_MAX: usize = 250;

/// The fields of a form that was sent.
pub trait SentFields {
    /// The value of a field, unless it is empty.
    fn one(&self, name: &str) -> Option<&str>;
    /// All values of a field, in their order.
    fn all(&self, name: &str) -> &[String];
}

impl TypeForm {
    /// The form as it was sent, made from this definition.
    #[must_use]
    pub fn read(sent: &dyn SentFields, base: TypeDefinition) -> Self {
        let text = |name: &str| sent.one(name).unwrap_or_default().to_owned();
        let is_set = |name: &str| sent.one(name) == Some("true");
        let formats = Format::ALL.into_iter();
        let is_named = |name: &str| sent.all("format").iter().any(|one| one == name);
        Self {
            id: text("id"),
            language: sent.one("language").unwrap_or("en").to_owned(),
            second_language: text("second_language"),
            title: pair(sent, "title"),
            description: pair(sent, "description"),
            rows: rows(sent, &base),
            validity_days: text("validity_days"),
            revocable: is_set("revocable"),
            suspendable: is_set("suspendable"),
            single_use: is_set("single_use"),
            formats: TypeFormats {
                issued: formats.filter(|format| is_named(format.as_str())).collect(),
                anoncreds: is_named(ANONCREDS),
            },
            background_color: text("background_color"),
            text_color: text("text_color"),
            icon: text("icon"),
            logo_text: pair(sent, "logo_text"),
            base,
        }
    }

    /// Does what a button of a row says: `add`, `add.KEY`, `remove.KEY`, `up.KEY` or `down.KEY`.
    pub fn press(&mut self, button: &str) {
        let (what, key) = button.split_once('.').unwrap_or((button, ""));
        let fresh = self.fresh_key();
        if what != "add" {
            let is_changed = change(&mut self.rows, what, key);
            if !is_changed {
                for row in &mut self.rows {
                    change(&mut row.members, what, key);
                }
            }
            return;
        }
        match self.rows.iter_mut().find(|row| row.key == key) {
            Some(object) => object.members.push(ClaimRow::new(&fresh, true)),
            None => self.rows.push(ClaimRow::new(&fresh, false)),
        }
    }

    /// The key of the next new row.
    fn fresh_key(&self) -> String {
        let keys = self.rows.iter().flat_map(|row| {
            let members = row.members.iter().map(|member| &member.key);
            std::iter::once(&row.key).chain(members)
        });
        let most = keys.filter_map(|key| key.parse::<u32>().ok()).max();
        most.map_or(0, |most| most.saturating_add(1)).to_string()
    }
}

/// Removes or moves the row with this key, if it is here.
fn change(rows: &mut Vec<ClaimRow>, what: &str, key: &str) -> bool {
    let Some(at) = rows.iter().position(|row| row.key == key) else {
        return false;
    };
    match what {
        "remove" => {
            rows.remove(at);
        }
        "up" if at > 0 => rows.swap(at, at.saturating_sub(1)),
        "down" if at.saturating_add(1) < rows.len() => rows.swap(at, at.saturating_add(1)),
        _ => {}
    }
    true
}

fn pair(sent: &dyn SentFields, name: &str) -> TextPair {
    TextPair {
        first: sent.one(name).unwrap_or_default().to_owned(),
        second: sent
            .one(&format!("{name}.second"))
            .unwrap_or_default()
            .to_owned(),
    }
}

/// The rows in the order of their keys; a row within an object follows the object.
fn rows(sent: &dyn SentFields, base: &TypeDefinition) -> Vec<ClaimRow> {
    let mut rows: Vec<ClaimRow> = Vec::new();
    for key in sent.all("row").iter().take(ROWS_MAX) {
        let mut row = row(sent, key);
        match rows.last_mut().filter(|_| row.is_inner) {
            Some(object) => {
                let made_from = object.made_from(&base.claims);
                row.tell_kept(made_from.map_or(&[], |claim| &claim.claims));
                object.members.push(row);
            }
            None => {
                row.tell_kept(&base.claims);
                rows.push(row);
            }
        }
    }
    rows
}

fn row(sent: &dyn SentFields, key: &str) -> ClaimRow {
    let named = |name: &str| format!("{key}.{name}");
    let text = |name: &str| sent.one(&named(name)).unwrap_or_default().to_owned();
    let is_set = |name: &str| sent.one(&named(name)) == Some("true");
    let kind = |name: &str| {
        let kind = sent.one(&named(name)).and_then(ClaimKind::named);
        kind.unwrap_or(ClaimKind::Text)
    };
    let is_inner = is_set("inner");
    let disclosed = match sent.one(&named("disclosed")) {
        Some("always") => Disclosed::Always,
        Some("never") => Disclosed::Never,
        Some("selectively") => Disclosed::Selectively,
        _ => default_disclosed(is_inner),
    };
    ClaimRow {
        from: text("from"),
        name: text("name"),
        label: pair(sent, &named("label")),
        kind: kind("kind"),
        of: kind("of"),
        values: text("values"),
        required: is_set("required"),
        disclosed,
        is_on_front: is_set("front"),
        ..ClaimRow::new(key, is_inner)
    }
}
