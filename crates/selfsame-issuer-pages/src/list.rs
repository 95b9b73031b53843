//! One list: where it stands, what is wrong with its file, what came of its rows.

use askama::Template;
use selfsame_catalogue::english;
use selfsame_driver::Reason;
use selfsame_issuing_view::PRINTED_MAX;
use selfsame_issuing_view::{IssuingList, ListResult, ListState};

use crate::PageBase;

/// One list.
#[derive(Template)]
#[template(path = "list.html")]
pub struct ListContent {
    /// What all pages have.
    pub base: PageBase,
    /// The list.
    pub list: IssuingList,
    /// The title of its type.
    pub title: String,
    /// Its rows on this page.
    pub rows: Vec<ListResult>,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// A printed sheet to fetch.
struct SheetLink {
    from: u64,
    to: u64,
}

impl ListContent {
    fn is_checked(&self) -> bool {
        self.list.state == ListState::Checked
    }

    fn is_issued(&self) -> bool {
        let is_begun = !matches!(self.list.state, ListState::Receiving | ListState::Checked);
        is_begun && self.list.faults == 0
    }

    fn is_at_work(&self) -> bool {
        matches!(self.list.state, ListState::Offering | ListState::Mailing)
    }

    fn is_mailed(&self) -> bool {
        self.list.state == ListState::Mailing
            || self.list.mailed.saturating_add(self.list.mail_failed) > 0
    }

    fn unnamed(&self) -> u64 {
        let named = u64::try_from(self.list.first_faults.len()).unwrap_or(u64::MAX);
        self.list.faults.saturating_sub(named)
    }

    fn told(&self, why: &Reason) -> String {
        english(why)
    }

    /// The sheets that print all offers; a few, the page would be long otherwise.
    fn sheets(&self) -> Vec<SheetLink> {
        let step = PRINTED_MAX as u64;
        let all = (0..50_u64).map(|number| number.saturating_mul(step));
        let all = all.take_while(|before| self.list.offered > 0 && *before < self.list.rows);
        let link = |before: u64| SheetLink {
            from: before.saturating_add(1),
            to: before.saturating_add(step).min(self.list.rows),
        };
        all.map(link).collect()
    }
}

#[cfg(test)]
mod tests {
    use selfsame_issuing_view::{ListFault, RowState};

    use super::*;

    fn content(state: ListState) -> ListContent {
        ListContent {
            base: PageBase {
                here: "/o/clinic".to_owned(),
                form: "token".to_owned(),
            },
            list: IssuingList {
                id: "one".to_owned(),
                type_id: "badge".to_owned(),
                name: Some("<people>.csv".to_owned()),
                digest: None,
                state,
                received: 10,
                rows: 900,
                offered: 0,
                refused: 0,
                mailed: 0,
                mail_failed: 0,
                faults: 0,
                first_faults: Vec::new(),
                created: "2026-03-01T10:00:00Z".to_owned(),
                ended: None,
            },
            title: "Badge".to_owned(),
            rows: Vec::new(),
            next: None,
        }
    }

    #[test]
    fn a_file_with_faults_shows_each_with_its_place_and_cannot_be_issued() {
        let mut content = content(ListState::Refused);
        content.list.faults = 7;
        content.list.first_faults = vec![ListFault {
            line: 3,
            column: 12,
            why: Reason::text("this is no date"),
        }];
        let page = content.render().unwrap();
        assert!(page.contains("Line 3") && page.contains("character 12"));
        assert!(page.contains("this is no date") && page.contains("6 more"));
        assert!(!page.contains("/issue\"") && !page.contains("<people>"));
    }

    #[test]
    fn a_checked_file_asks_before_it_is_issued_and_a_finished_one_offers_sheets() {
        let page = content(ListState::Checked).render().unwrap();
        assert!(page.contains("action=\"/o/clinic/issuer/lists/one/issue\""));
        let mut done = content(ListState::Done);
        done.list.offered = 900;
        done.rows = vec![ListResult {
            line: 2,
            reference: Some("=1+1".to_owned()),
            state: RowState::Offered,
            offer: Some("o1".to_owned()),
            uri: None,
            tx_code: None,
            expires: None,
            email: None,
            why: None,
        }];
        let page = done.render().unwrap();
        assert!(page.contains("sheet.pdf?from=801") && page.contains("results.csv"));
        assert!(page.contains("/o/clinic/issuer/view/o1"));
    }
}
