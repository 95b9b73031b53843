use selfsame_crypto::time::UnixTime;
use selfsame_driver::Reason;
use selfsame_sheets::{TableItem, TableKind, TableReader};
use selfsame_types::TypeSet;
use serde_json::json;

use crate::columns::{CellPlace, columns, example, header, object_row, row};
use crate::mail::OfferLetter;
use crate::record::{
    ListRecord, ListRow, MailState, ReferenceDigest, ReferenceDigests, RowChunk, RowOffer,
    RowResult,
};
use crate::view::{ListFault, ListKind, ListResult, NewIssuingList, RowState};

fn types() -> TypeSet {
    TypeSet::of_samples("urn:x:")
}

/// The rows of a file for the sample `immunization`, or what is wrong with them.
fn rows(file: &str) -> Result<Vec<ListRow>, ListFault> {
    let types = types();
    let one = types.find("immunization").unwrap();
    let mut reader = TableReader::new(TableKind::Csv);
    let mut items = reader.feed(file.as_bytes());
    items.extend(reader.end());
    let (mut named, mut rows) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            TableItem::Header(cells) => named = columns(&cells, one)?,
            TableItem::Cells(cells) => rows.push(row(&named, cells)?),
            other => panic!("{other:?}"),
        }
    }
    Ok(rows)
}

fn refused(file: &str) -> [String; 3] {
    let fault = rows(file).unwrap_err();
    let id = fault.why.id().to_owned();
    [fault.line.to_string(), fault.column.to_string(), id]
}

#[test]
fn the_example_of_a_type_is_a_file_that_its_type_takes() {
    let types = types();
    for one in types.issued() {
        let file = example(one).unwrap();
        assert!(file.starts_with(&header(one)));
        if one.id == "immunization" {
            let rows = rows(&file).unwrap();
            assert_eq!(rows[0].reference.as_deref(), Some("example-1"));
            assert_eq!(rows[0].email.as_deref(), Some("maja@example.org"));
            one.fill(&rows[0].claims, false).unwrap();
        }
    }
}

#[test]
fn a_cell_becomes_a_claim_of_its_kind_and_an_empty_one_none() {
    let rows = rows("reference,patient.given_name,patient.family_name\n7,=1+1,\n").unwrap();
    assert_eq!(
        rows[0].claims,
        *json!({"patient": {"given_name": "=1+1"}})
            .as_object()
            .unwrap()
    );
    assert_eq!(rows[0].reference.as_deref(), Some("7"));
}

#[test]
fn a_fault_of_the_header_or_of_a_cell_names_its_place() {
    for (file, line, column, id) in [
        ("reference,surname\n", 1, 11, "list-column-unknown"),
        ("reference,reference\n", 1, 11, "list-column-twice"),
        ("reference,email\n\"a\nb\",x\n", 2, 1, "list-reference-long"),
        (
            "reference,email\n,x@y.example\n",
            2,
            1,
            "list-reference-empty",
        ),
        (
            "reference,email\n1,\n2,maja\n",
            3,
            3,
            "list-address-malformed",
        ),
        (
            "reference,email\n1,\"a@b.example, c@d.example\"\n",
            2,
            3,
            "list-address-malformed",
        ),
    ] {
        let expected = [line.to_string(), column.to_string(), id.to_owned()];
        assert_eq!(refused(file), expected, "{file:?}");
    }
}

#[test]
fn an_object_has_claims_and_no_member_that_is_not_known() {
    let object = |value: serde_json::Value| object_row(3, value.as_object().unwrap().clone());
    let row = object(json!({"reference": "7", "claims": {"a": 1}})).unwrap();
    assert_eq!((row.line, row.claims["a"].clone()), (3, json!(1)));
    for (value, id) in [
        (json!({"reference": 7, "claims": {}}), "list-member-text"),
        (json!({"reference": "7"}), "list-claims-missing"),
        (json!({"claims": {}, "note": ""}), "list-member-unknown"),
        (
            json!({"claims": {}, "reference": " "}),
            "list-reference-empty",
        ),
    ] {
        let fault = object(value).unwrap_err();
        assert_eq!((fault.line, fault.why.id()), (3, id));
    }
}

#[test]
fn a_reference_that_an_earlier_row_has_is_found_whatever_portion_it_is_in() {
    let digest = |reference: &str, line| {
        let place = CellPlace { line, column: 4 };
        ReferenceDigest::of(reference, place)
    };
    let all = [("a", 2), ("b", 3), ("a", 900_001), ("c", 5), ("a", 4)];
    let all = all.map(|(reference, line)| digest(reference, line));
    let faults = ReferenceDigests(all.to_vec()).repeated();
    let told: Vec<_> = faults.iter().map(|one| (one.line, one.column)).collect();
    assert_eq!(told, [(4, 4), (900_001, 4)]);
    let why = Reason::new("list-reference-twice").with("line", &2);
    assert!(faults.iter().all(|one| one.why == why));
}

#[test]
fn at_most_a_hundred_faults_are_named_and_all_are_counted() {
    let mut list = list();
    for line in 0..250 {
        list.note(ListFault {
            line,
            column: 1,
            why: Reason::new("list-empty"),
        });
    }
    let view = list.view("one");
    assert_eq!((view.faults, view.first_faults.len()), (250, 100));
}

fn list() -> ListRecord {
    let new = NewIssuingList {
        type_id: "immunization".to_owned(),
        format: None,
        kind: ListKind::Csv,
        name: None,
        digest: None,
        tx_code: false,
        expires_in: None,
        mail: false,
    };
    ListRecord::begun(&new, UnixTime(1_000))
}

#[test]
fn each_row_has_the_result_of_its_own_place() {
    let row = |line| ListRow {
        line,
        ..ListRow::default()
    };
    let made = |mail| {
        RowResult::Offered(RowOffer {
            id: "o".to_owned(),
            uri: "u".to_owned(),
            expires: "e".to_owned(),
            tx_code: None,
            mail,
        })
    };
    let chunk = RowChunk {
        before: 0,
        rows: (1..=5).map(row).collect(),
        results: vec![
            made(None),
            RowResult::Refused(Reason::new("claim-missing")),
            made(Some(MailState::Sent)),
            made(Some(MailState::Failed(Reason::new("list-mail-late")))),
        ],
    };
    let states: Vec<RowState> = chunk.shown().iter().map(|row| row.state).collect();
    assert_eq!(
        states,
        [
            RowState::Offered,
            RowState::Refused,
            RowState::Mailed,
            RowState::MailFailed,
            RowState::Waiting
        ]
    );
}

#[test]
fn a_letter_has_the_link_in_each_form_and_no_code() {
    let wallet = "https://clinic.example/".parse().unwrap();
    let mut letter = OfferLetter {
        issuer: "City\r\nBcc: x@y.example",
        title: "Badge",
        uri: "openid-credential-offer://?credential_offer_uri=https%3A%2F%2Fclinic.example",
        expires: "2026-03-02T10:00:00Z",
        has_code: true,
        wallet: Some(&wallet),
    };
    assert_eq!(letter.subject(), "City  Bcc: x@y.example: Badge");
    let text = letter.text();
    assert!(text.contains("https://clinic.example/wallet/offer?uri=openid-credential-offer%3A"));
    assert!(text.contains(letter.uri) && text.contains("until 2026-03-02"));
    assert!(text.contains("a code"));
    letter.wallet = None;
    assert!(!letter.text().contains("/wallet/"));
}

#[test]
fn results_as_csv_have_no_formula() {
    let row = ListRow {
        line: 2,
        reference: Some("=HYPERLINK(\"x\")".to_owned()),
        ..ListRow::default()
    };
    let chunk = RowChunk {
        before: 0,
        rows: vec![row],
        results: Vec::new(),
    };
    let [result] = <[ListResult; 1]>::try_from(chunk.shown()).unwrap();
    let line = result.csv("+1");
    assert!(
        line.starts_with("2,\"'=HYPERLINK(\"\"x\"\")\",waiting,"),
        "{line}"
    );
    assert!(line.ends_with(",\"'+1\"\r\n"), "{line}");
    let columns = ListResult::csv_header().split(',').count();
    assert_eq!(line.matches(',').count() + 1, columns);
}
