//! Lists of people who all get an offer: checked whole, offered once whatever happens in between, mailed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use selfsame_app::App;
use selfsame_driver::paging::Paging;
use selfsame_issuing_lists::view::{
    IssuingList, ListKind, ListResult, ListState, NewIssuingList, RowState,
};
use selfsame_issuing_lists::{FilePortion, ListMail, PrintedRows};
use selfsame_net::mail::{MailError, MailMessage};
use selfsame_types::TypeDefinition;
use serde_json::json;

use crate::world::Site;

const HEADER: &str = "reference,email,given_name,born";

/// A site that issues badges.
async fn site() -> Site {
    let site = Site::start().await;
    let badge: TypeDefinition = serde_json::from_value(json!({
        "id": "badge", "title": {"en": "Badge"},
        "claims": [
            {"path": ["given_name"], "kind": "text", "required": true, "max_length": 40},
            {"path": ["born"], "kind": "date", "required": true},
        ],
    }))
    .unwrap();
    let issuer = site.app.main().issuer().unwrap().clone();
    issuer.types().replace("badge", &badge).await.unwrap();
    site.app.publish_type(&issuer, "badge").await.unwrap();
    site
}

fn new_list(mail: bool) -> NewIssuingList {
    NewIssuingList {
        type_id: "badge".to_owned(),
        format: Some("dc+sd-jwt".to_owned()),
        kind: ListKind::Csv,
        name: Some("people.csv".to_owned()),
        digest: None,
        tx_code: false,
        expires_in: None,
        mail,
    }
}

/// A list of the main organisation.
struct Scene<'a> {
    app: &'a App,
    id: String,
}

impl<'a> Scene<'a> {
    async fn begin(app: &'a App, new: &NewIssuingList) -> Self {
        let list = app.issuing_lists().create(app.main(), new).await.unwrap();
        Self { app, id: list.id }
    }

    /// Sends a file in portions of this size.
    async fn sends(&self, file: &str, portion: usize) {
        let mut from = 0_u64;
        for bytes in file.as_bytes().chunks(portion) {
            let bytes = bytes.to_vec();
            let portion = FilePortion { from, bytes };
            let lists = self.app.issuing_lists();
            let length = portion.bytes.len() as u64;
            let list = lists.receive(self.app.main(), &self.id, portion).await;
            list.unwrap();
            from += length;
        }
    }

    async fn issues(&self) -> IssuingList {
        let lists = self.app.issuing_lists();
        lists.issue(self.app.main(), &self.id).await.unwrap()
    }

    async fn now(&self) -> IssuingList {
        let lists = self.app.issuing_lists();
        lists.one(self.app.main(), &self.id).await.unwrap()
    }

    /// Waits until the list is in this state.
    async fn until(&self, state: ListState) -> IssuingList {
        for _ in 0..1_200 {
            let list = self.now().await;
            if list.state == state {
                return list;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{:?}", self.now().await);
    }

    async fn results(&self, after: Option<&str>) -> Vec<ListResult> {
        let paging = Paging {
            after: after.map(str::to_owned),
            limit: Some(200),
        };
        let lists = self.app.issuing_lists();
        let listed = lists.results(self.app.main(), &self.id, &paging).await;
        listed.unwrap().items
    }
}

/// A file with this number of rows.
fn file(rows: usize) -> String {
    let row = |number: usize| {
        format!("ref {number},p{number}@example.org,\"Maja, {number}\",1984-01-26\n")
    };
    let rows: String = (0..rows).map(row).collect();
    format!("{HEADER}\n{rows}")
}

async fn offers(app: &App) -> usize {
    let issuer = app.main().issuer().unwrap();
    let mut paging = Paging::longest();
    let mut count = 0;
    loop {
        let listed = issuer.offers(&paging).await.unwrap();
        count += listed.items.len();
        match listed.next {
            Some(next) => paging.after = Some(next),
            None => return count,
        }
    }
}

/// A carrier that remembers what it was given, and is away for the first messages.
#[derive(Default)]
struct Post {
    away: Mutex<usize>,
    given: Mutex<Vec<String>>,
}

#[async_trait]
impl ListMail for Post {
    async fn send(&self, message: MailMessage<'_>) -> Result<(), MailError> {
        let mut away = self.away.lock().unwrap();
        if *away > 0 {
            *away -= 1;
            return Err(MailError::Away("down".to_owned()));
        }
        if message.to.starts_with("p3@") {
            return Err(MailError::Refused);
        }
        let told = format!("{} {} {}", message.to, message.id, message.text);
        self.given.lock().unwrap().push(told);
        Ok(())
    }
}

#[tokio::test]
async fn each_row_of_a_file_gets_one_offer_under_its_reference() {
    let site = site().await;
    site.app.start().await.unwrap();
    let scene = Scene::begin(&site.app, &new_list(false)).await;
    scene.sends(&file(600), 10_000).await;
    assert_eq!(offers(&site.app).await, 0, "nothing before it is issued");
    scene.issues().await;
    let done = scene.until(ListState::Done).await;
    assert_eq!((done.rows, done.offered, done.refused), (600, 600, 0));
    assert_eq!(offers(&site.app).await, 600);
    let last = scene.results(Some("598")).await;
    let [one, two] = <[ListResult; 2]>::try_from(last).unwrap();
    assert_eq!((one.line, two.line), (600, 601));
    assert_eq!(two.reference.as_deref(), Some("ref 599"));
    assert_eq!(two.state, RowState::Offered);
    let lists = site.app.issuing_lists();
    let rows = PrintedRows {
        from: 400,
        count: 1_000,
    };
    let printed = lists.printed(site.app.main(), &scene.id, rows).await;
    let printed = printed.unwrap();
    assert_eq!(printed.len(), 201);
    assert_eq!(printed[0].reference.as_deref(), Some("ref 399"));

    let issuer = site.app.main().issuer().unwrap();
    let offer = issuer.offer(two.offer.as_deref().unwrap()).await.unwrap();
    assert_eq!(offer.label.as_deref(), Some("ref 599"));
    let object = issuer.offer_object(&offer.id).await.unwrap();
    assert!(object.contains("credential_configuration_ids"));
}

#[tokio::test]
async fn a_file_with_one_fault_anywhere_offers_nothing_and_names_the_place() {
    let site = site().await;
    site.app.start().await.unwrap();
    for (row, line, column, id) in [
        (
            "ref x,x@y.example,Zoe,1984-13-26\n",
            302,
            23,
            "claim-of-other-kind",
        ),
        ("ref x,x@y.example,,1984-01-26\n", 302, 19, "claim-missing"),
        (
            "ref 7,x@y.example,Zoe,1984-01-26\n",
            302,
            1,
            "list-reference-twice",
        ),
        (
            "ref x,x@y.example,Z\"e,1984-01-26\n",
            302,
            20,
            "table-quote-inside",
        ),
    ] {
        let scene = Scene::begin(&site.app, &new_list(false)).await;
        scene.sends(&format!("{}{row}", file(300)), 3_000).await;
        let list = scene.issues().await;
        assert_eq!(list.state, ListState::Refused, "{row}");
        let [fault] = <[_; 1]>::try_from(list.first_faults).unwrap();
        let place = (fault.line, fault.column, fault.why.id());
        assert_eq!(place, (line, column, id), "{row}");
    }
    assert_eq!(offers(&site.app).await, 0);
}

#[tokio::test]
async fn a_portion_that_is_sent_again_changes_nothing_and_one_that_leaves_bytes_out_is_refused() {
    let site = site().await;
    let scene = Scene::begin(&site.app, &new_list(false)).await;
    let whole = file(10);
    scene.sends(&whole[..100], 100).await;
    scene.sends(&whole[..100], 50).await;
    assert_eq!(scene.now().await.received, 100);
    let lists = site.app.issuing_lists();
    let gap = FilePortion {
        from: 120,
        bytes: vec![b'x'],
    };
    let refused = lists.receive(site.app.main(), &scene.id, gap).await;
    assert_eq!(refused.unwrap_err().reason.id(), "list-offset");
}

#[tokio::test]
async fn a_list_goes_on_in_another_process_and_no_row_is_offered_twice() {
    let site = site().await;
    let scene = Scene::begin(&site.app, &new_list(false)).await;
    scene.sends(&file(1_200), 100_000).await;
    // This process has no worker: the list waits.
    scene.issues().await;
    let others = [site.reopened().await, site.reopened().await];
    for other in &others {
        other.start().await.unwrap();
    }
    let done = scene.until(ListState::Done).await;
    assert_eq!(done.offered, 1_200);
    assert_eq!(offers(&site.app).await, 1_200);
}

#[tokio::test]
async fn a_list_that_is_cancelled_makes_no_further_offer_and_keeps_those_it_made() {
    let site = site().await;
    let scene = Scene::begin(&site.app, &new_list(false)).await;
    scene.sends(&file(10), 100_000).await;
    scene.issues().await;
    let lists = site.app.issuing_lists();
    let ended = lists.cancel(site.app.main(), &scene.id).await.unwrap();
    assert_eq!(ended.state, ListState::Cancelled);
    site.app.start().await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(offers(&site.app).await, 0);
    let again = lists.cancel(site.app.main(), &scene.id).await;
    assert_eq!(again.unwrap_err().reason.id(), "list-over");
}

#[tokio::test]
async fn offers_are_mailed_once_the_server_is_back_and_a_refused_address_is_noted() {
    let site = site().await;
    let post = Arc::new(Post::default());
    *post.away.lock().unwrap() = 1;
    site.app.issuing_lists().mail_by(post.clone());
    site.app.start().await.unwrap();
    let scene = Scene::begin(&site.app, &new_list(true)).await;
    scene.sends(&file(25), 100_000).await;
    scene.issues().await;
    scene.until(ListState::Mailing).await;
    // A server that is away is tried again after a while.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(post.given.lock().unwrap().is_empty());
    site.app.clock().advance(10);
    let done = scene.until(ListState::Done).await;
    assert_eq!((done.mailed, done.mail_failed), (24, 1));
    let mut given = post.given.lock().unwrap().clone();
    given.sort();
    given.dedup_by_key(|told| told.split(' ').nth(1).unwrap().to_owned());
    assert_eq!(given.len(), 24, "one message for each offer");
    assert!(
        given
            .iter()
            .all(|told| told.contains("credential_offer_uri"))
    );
    let results = scene.results(None).await;
    let failed = results.iter().find(|row| row.state == RowState::MailFailed);
    assert_eq!(failed.unwrap().email.as_deref(), Some("p3@example.org"));
}

#[tokio::test]
async fn mail_needs_a_server_and_an_address_in_each_row() {
    let site = site().await;
    let lists = site.app.issuing_lists();
    let refused = lists.create(site.app.main(), &new_list(true)).await;
    assert_eq!(refused.unwrap_err().reason.id(), "list-mail-absent");
    lists.mail_by(Arc::new(Post::default()));
    let scene = Scene::begin(&site.app, &new_list(true)).await;
    scene
        .sends(&format!("{HEADER}\n1,,Maja,1984-01-26\n"), 100)
        .await;
    let list = scene.issues().await;
    assert_eq!(list.first_faults[0].why.id(), "list-address-missing");
}
