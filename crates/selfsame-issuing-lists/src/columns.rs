//! How the columns of a table become claims.

use selfsame_driver::{Error, ErrorKind, Reason};
use selfsame_sheets::{TableCell, written};
use selfsame_types::fill::{at, put};
use selfsame_types::model::ClaimKind;
use selfsame_types::{CredentialType, TypeClaim};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::row::ListRow;
use crate::view::ListFault;

/// The column with the clerk's name for the credential.
const REFERENCE: &str = "reference";
/// The column with the address that the offer is mailed to.
const EMAIL: &str = "email";
/// The longest reference, in characters.
const REFERENCE_MAX: usize = 200;
/// The longest address, in bytes (RFC 5321 §4.5.3.1.3).
const EMAIL_MAX: usize = 254;

/// What a column means. It can be a claim and the reference or the address at once.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Column {
    /// Its name in the header.
    name: String,
    /// The claim, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    claim: Option<ColumnClaim>,
}

/// The claim of a column.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct ColumnClaim {
    path: Vec<String>,
    kind: ClaimKind,
}

/// A claim with a column of its own.
struct ColumnLeaf<'a> {
    claim: &'a TypeClaim,
    path: Vec<String>,
}

/// The columns of a header. Each must be a claim of the type, by its path with dots, or `reference` or `email`.
pub(crate) fn columns(cells: &[TableCell], one: &CredentialType) -> Result<Vec<Column>, ListFault> {
    let leaves = leaves(&one.claims, &[]);
    let mut columns: Vec<Column> = Vec::with_capacity(cells.len());
    for cell in cells {
        let name = cell.text.trim();
        let leaf = leaves.iter().find(|leaf| leaf.path.join(".") == name);
        let claim = leaf.map(|leaf| ColumnClaim {
            path: leaf.path.clone(),
            kind: leaf.claim.kind,
        });
        if columns.iter().any(|other| other.name == name) {
            let why = Reason::new("list-column-twice").with("name", name);
            return Err(fault(cell, why));
        }
        if claim.is_none() && ![REFERENCE, EMAIL].contains(&name) {
            let known: Vec<String> = leaves.iter().map(|leaf| leaf.path.join(".")).collect();
            let why = Reason::new("list-column-unknown")
                .with("name", name)
                .with("known", &known.join(", "));
            return Err(fault(cell, why));
        }
        let name = name.to_owned();
        columns.push(Column { name, claim });
    }
    Ok(columns)
}

/// The header of a file for a type.
#[must_use]
pub fn header(one: &CredentialType) -> String {
    let paths = leaves(&one.claims, &[]);
    let paths: Vec<String> = paths.iter().map(|leaf| leaf.path.join(".")).collect();
    let own = [REFERENCE, EMAIL].into_iter();
    let own = own.filter(|own| !paths.iter().any(|path| path == own));
    written(own.chain(paths.iter().map(String::as_str)))
}

/// A file for a type with one row about an invented person.
///
/// # Errors
/// Those of the type's examples, which a checked type does not have.
pub fn example(one: &CredentialType) -> selfsame_driver::Result<String> {
    let filled = one.fill(&Map::new(), true)?;
    let leaves = leaves(&one.claims, &[]);
    let value = |path: &[String]| match at(&filled, path) {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let mut cells = Vec::new();
    for (own, value) in [(REFERENCE, "example-1"), (EMAIL, "maja@example.org")] {
        if !leaves.iter().any(|leaf| leaf.path == [own]) {
            cells.push(value.to_owned());
        }
    }
    cells.extend(leaves.iter().map(|leaf| value(&leaf.path)));
    let row = written(cells.iter().map(String::as_str));
    Ok(format!("{}{row}", header(one)))
}

/// The claims with a column: those within an object have their own.
fn leaves<'a>(claims: &'a [TypeClaim], prefix: &[String]) -> Vec<ColumnLeaf<'a>> {
    let stated = claims.iter().filter(|claim| claim.derived.is_none());
    let leaves = stated.flat_map(|claim| {
        let path = [prefix, &claim.path].concat();
        match claim.kind {
            ClaimKind::Object if !claim.claims.is_empty() => leaves(&claim.claims, &path),
            _ => vec![ColumnLeaf { claim, path }],
        }
    });
    leaves.collect()
}

/// The row of some cells. An empty cell is a claim that is left out.
pub(crate) fn row(columns: &[Column], cells: Vec<TableCell>) -> Result<ListRow, ListFault> {
    let mut row = ListRow {
        line: cells.first().map_or(0, |cell| cell.line),
        ..ListRow::default()
    };
    for (column, cell) in columns.iter().zip(cells) {
        let text = cell.text.trim();
        match column.name.as_str() {
            REFERENCE => row.reference = Some(reference(text).map_err(|why| fault(&cell, why))?),
            EMAIL if !text.is_empty() => {
                row.email = Some(address(text).map_err(|why| fault(&cell, why))?);
            }
            _ => {}
        }
        let Some(claim) = column.claim.as_ref().filter(|_| !text.is_empty()) else {
            continue;
        };
        let value = typed(claim.kind, &cell.text).ok_or_else(|| {
            let why = Reason::new("claim-of-other-kind")
                .with("claim", &column.name)
                .with_reason("kind", claim.kind.expected());
            fault(&cell, why)
        })?;
        put(&mut row.claims, &claim.path, value);
    }
    Ok(row)
}

/// The row of an object with the members `claims`, `reference` and `email`.
pub(crate) fn object_row(line: u64, mut members: Map<String, Value>) -> Result<ListRow, ListFault> {
    let fault = |why| ListFault {
        line,
        column: 1,
        why,
    };
    let mut text = |name: &str| match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(fault(Reason::new("list-member-text").with("name", name))),
    };
    let reference_text = text(REFERENCE)?;
    let email = text(EMAIL)?;
    let claims = match members.remove("claims") {
        Some(Value::Object(claims)) => claims,
        _ => return Err(fault(Reason::new("list-claims-missing"))),
    };
    if let Some(name) = members.keys().next() {
        return Err(fault(Reason::new("list-member-unknown").with("name", name)));
    }
    let reference = reference_text.map(|text| reference(text.trim()));
    let email = email.map(|text| address(text.trim()));
    Ok(ListRow {
        line,
        reference: reference.transpose().map_err(fault)?,
        email: email.transpose().map_err(fault)?,
        claims,
    })
}

fn reference(text: &str) -> Result<String, Reason> {
    if text.is_empty() {
        return Err(Reason::new("list-reference-empty"));
    }
    if text.chars().count() > REFERENCE_MAX || text.chars().any(char::is_control) {
        return Err(Reason::new("list-reference-long").with("most", &REFERENCE_MAX));
    }
    Ok(text.to_owned())
}

/// An address that a mail server can be asked for. Whether somebody has it is for that server to say.
fn address(text: &str) -> Result<String, Reason> {
    let is_address = text.len() <= EMAIL_MAX
        && text.split_once('@').is_some_and(|(local, host)| {
            !local.is_empty() && host.contains('.') && !host.contains('@')
        })
        && !text
            .contains(|one: char| one.is_whitespace() || one.is_control() || "<>,;".contains(one));
    match is_address {
        true => Ok(text.to_owned()),
        false => Err(Reason::new("list-address-malformed")),
    }
}

/// The value of a cell; `None` if it is not of the claim's kind.
fn typed(kind: ClaimKind, text: &str) -> Option<Value> {
    let trimmed = text.trim();
    match kind {
        ClaimKind::Text => Some(text.into()),
        ClaimKind::Date | ClaimKind::Image | ClaimKind::Enumeration => Some(trimmed.into()),
        ClaimKind::Number => number(trimmed),
        ClaimKind::Boolean => match trimmed.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true.into()),
            "false" | "no" | "0" => Some(false.into()),
            _ => None,
        },
        ClaimKind::List => serde_json::from_str::<Vec<Value>>(trimmed)
            .ok()
            .map(Value::Array),
        ClaimKind::Object => serde_json::from_str::<Map<String, Value>>(trimmed)
            .ok()
            .map(Value::Object),
    }
}

fn number(text: &str) -> Option<Value> {
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
    number.map(Value::Number)
}

fn fault(cell: &TableCell, why: Reason) -> ListFault {
    ListFault {
        line: cell.line,
        column: cell.column,
        why,
    }
}

/// The fault of a row that its type refuses; at the cell of the claim that the refusal names.
pub(crate) fn refused(at: &RowPlaces, error: Error) -> Result<ListFault, Error> {
    match error.kind {
        ErrorKind::BadRequest => {}
        _ => return Err(error),
    }
    let named = error.reason.parameter("claim").map(ToString::to_string);
    let place = named.and_then(|claim| at.place(&claim));
    let place = place.unwrap_or(CellPlace {
        line: at.line,
        column: 1,
    });
    Ok(ListFault {
        line: place.line,
        column: place.column,
        why: error.reason,
    })
}

/// Where the cells of a row stand.
pub(crate) struct RowPlaces {
    pub line: u64,
    /// The cells' lines and columns, in the order of the columns; none for an object.
    pub cells: Vec<CellPlace>,
    pub names: Vec<String>,
}

/// Where a cell begins.
#[derive(Clone, Copy)]
pub(crate) struct CellPlace {
    pub line: u64,
    pub column: u64,
}

impl RowPlaces {
    pub fn of(columns: &[Column], cells: &[TableCell]) -> Self {
        let place = |cell: &TableCell| CellPlace {
            line: cell.line,
            column: cell.column,
        };
        Self {
            line: cells.first().map_or(0, |cell| cell.line),
            cells: cells.iter().map(place).collect(),
            names: columns.iter().map(|column| column.name.clone()).collect(),
        }
    }

    pub fn object(line: u64) -> Self {
        Self {
            line,
            cells: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Where the reference stands, else where the row begins.
    pub fn reference(&self) -> CellPlace {
        self.place(REFERENCE).unwrap_or(CellPlace {
            line: self.line,
            column: 1,
        })
    }

    /// Where the claim with this path stands, or the first cell within it.
    fn place(&self, claim: &str) -> Option<CellPlace> {
        let whole = claim.split('[').next().unwrap_or(claim);
        let within = format!("{whole}.");
        let mut names = self.names.iter().zip(&self.cells);
        let found = names.find(|(name, _)| *name == whole || name.starts_with(&within));
        found.map(|(_, place)| *place)
    }
}
