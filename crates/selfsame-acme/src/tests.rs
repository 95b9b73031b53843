//! Certificates from Pebble, a real server of ACME, which asks this machine for proof.

#[path = "../tests/server/pebble.rs"]
mod pebble;
mod site;

use std::time::Duration;

use rcgen::KeyPair;
use selfsame_crypto::SecretString;
use selfsame_driver::clock::Clock;

use crate::account::AccountTerms;
use crate::call::DirectoryCalls;
use crate::plan::{BegunOrder, HostInput};
use crate::records::HostRecord;
use pebble::Pebble;
use site::{FURTHER, OWN, Ports, Site, in_memory, soon};

const DAY: u64 = 86_400;

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn a_certificate_is_given_after_a_question_in_a_handshake_and_a_restart_keeps_it() {
    let ports = Ports::free();
    let mut pebble = ports.authority(DAY);
    pebble.start();
    let authority = pebble.authority();
    let store = in_memory();
    let site = Site::start(&store, &ports, &pebble);
    let shown = soon(|| site.accepted(OWN, &authority));
    assert_eq!(soon(|| site.accepted(OWN, &authority)), shown);
    assert_eq!(pebble.given(), 1);
    drop(site);
    let site = Site::start(&store, &ports, &pebble);
    assert_eq!(soon(|| site.accepted(OWN, &authority)), shown);
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(pebble.given(), 1, "nothing is ordered that is there");
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn a_certificate_is_given_after_a_question_without_tls_where_no_handshake_comes_through() {
    let mut ports = Ports::free();
    ports.asked_in_handshakes = site::free_port();
    let mut pebble = ports.authority(DAY);
    pebble.start();
    let authority = pebble.authority();
    let site = Site::start_with(&in_memory(), &ports, &pebble, |settings| {
        settings.listen = Some(([127, 0, 0, 1], ports.without_tls).into());
    });
    soon(|| site.accepted(OWN, &authority));
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn an_authority_that_refuses_every_second_nonce_gives_a_certificate_by_one_order() {
    let ports = Ports::free();
    let mut pebble = ports.authority_that(|settings| settings.refused_nonces = 50);
    pebble.start();
    let authority = pebble.authority();
    let site = Site::start(&in_memory(), &ports, &pebble);
    soon(|| site.accepted(OWN, &authority));
    assert_eq!(pebble.given(), 1);
    assert_eq!(pebble.log().matches("Added order").count(), 1);
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn the_listener_serves_while_the_authority_is_down_and_gets_its_certificate_once_it_is_up() {
    let ports = Ports::free();
    let mut pebble = ports.authority(DAY);
    let store = in_memory();
    let site = Site::start(&store, &ports, &pebble);
    soon(|| {
        site.failures_of(OWN)
            .filter(|count| *count > 0)
            .ok_or("no failure yet")
    });
    assert!(site.is_answered(), "the listener serves");
    pebble.start();
    let authority = pebble.authority();
    soon(|| site.accepted(OWN, &authority));
    assert_eq!(site.failures_of(OWN), Some(0));
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn a_certificate_is_renewed_before_it_ends_and_clients_accept_the_listener_all_the_time() {
    let ports = Ports::free();
    let mut pebble = ports.authority(45);
    pebble.start();
    let authority = pebble.authority();
    let site = Site::start(&in_memory(), &ports, &pebble);
    let first = soon(|| site.accepted(OWN, &authority));
    let mut next = first.clone();
    for _ in 0..400 {
        next = site.accepted(OWN, &authority).unwrap();
        if next != first {
            break;
        }
        std::thread::sleep(Duration::from_millis(150));
    }
    assert_ne!(next, first);
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn an_authority_that_has_forgotten_the_account_gets_another_one() {
    let ports = Ports::free();
    let mut pebble = ports.authority(60);
    pebble.start();
    let before = pebble.authority();
    let site = Site::start(&in_memory(), &ports, &pebble);
    soon(|| site.accepted(OWN, &before));
    pebble.start();
    let authority = pebble.authority();
    assert_ne!(authority, before);
    soon(|| site.accepted(OWN, &authority));
    assert_eq!(pebble.log().matches("There are now 1 accounts").count(), 2);
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn an_order_that_the_authority_does_not_have_is_begun_anew() {
    let ports = Ports::free();
    let mut pebble = ports.authority(DAY);
    pebble.start();
    let store = in_memory();
    let gone = format!(
        "{}/my-order/gone",
        pebble.directory().trim_end_matches("/dir")
    );
    site::run(async {
        let mut record = HostRecord::read(&store, OWN).await.unwrap();
        record.state = record.state.of_directory(&pebble.directory());
        let order = HostInput::Begun(begun(gone));
        record
            .step(&store, order, &Clock::default().ctx())
            .await
            .unwrap();
    });
    let authority = pebble.authority();
    let site = Site::start(&store, &ports, &pebble);
    soon(|| site.accepted(OWN, &authority));
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn an_order_that_is_not_valid_any_more_is_begun_anew() {
    let ports = Ports::free();
    let mut pebble = ports.authority(DAY);
    pebble.start();
    let (store, settings) = (in_memory(), ports.settings(&pebble));
    let terms = AccountTerms {
        directory: pebble.directory(),
        contact: Vec::new(),
        external: None,
    };
    let directory = settings.directory().unwrap();
    let calls = DirectoryCalls::new(&directory, settings.roots().unwrap()).unwrap();
    site::run(async {
        let account = terms.open(&store, &calls).await.unwrap();
        let names = [instant_acme::Identifier::Dns(OWN.to_owned())];
        let wanted = instant_acme::NewOrder::new(&names);
        let mut order = account.new_order(&wanted).await.unwrap();
        // RFC 8555 §7.1.6: with an authorization that was given back, an order is as invalid as one that has expired.
        let mut all = order.authorizations();
        let mut authorization = all.next().await.unwrap().unwrap();
        authorization.deactivate().await.unwrap();
        let url = order.url().to_owned();
        let mut record = HostRecord::read(&store, OWN).await.unwrap();
        record.state = record.state.of_directory(&pebble.directory());
        let order = HostInput::Begun(begun(url));
        record
            .step(&store, order, &Clock::default().ctx())
            .await
            .unwrap();
    });
    let authority = pebble.authority();
    let site = Site::start(&store, &ports, &pebble);
    soon(|| site.accepted(OWN, &authority));
    assert_eq!(pebble.log().matches("Added order").count(), 2);
    assert!(pebble.log().contains("There are now 1 accounts"));
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn hosts_of_organisations_get_certificates_of_their_own_and_one_that_is_refused_keeps_no_other_from_its()
 {
    let ports = Ports::free();
    let mut pebble = ports.authority(DAY);
    pebble.start();
    let authority = pebble.authority();
    let site = Site::start(&in_memory(), &ports, &pebble);
    let own = soon(|| site.accepted(OWN, &authority));
    site.add_host(Pebble::BLOCKED);
    site.add_host(FURTHER);
    let further = soon(|| site.accepted(FURTHER, &authority));
    assert_ne!(own, further);
    assert_eq!(site.accepted(OWN, &authority).unwrap(), own);
    soon(|| {
        site.failures_of(Pebble::BLOCKED)
            .filter(|count| *count > 0)
            .ok_or("not asked yet")
    });
    assert!(site.accepted(Pebble::BLOCKED, &authority).is_err());
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn of_two_processes_one_orders_and_both_answer_and_show_what_it_was_given() {
    let ports = Ports::free();
    let mut pebble = ports.authority(DAY);
    pebble.start();
    let authority = pebble.authority();
    let store = in_memory();
    let asked = Site::start_beside(&store, &ports, &pebble);
    let beside = Site::start_beside(&store, &Ports::free(), &pebble);
    let shown = soon(|| asked.accepted(OWN, &authority));
    assert_eq!(soon(|| beside.accepted(OWN, &authority)), shown);
    assert_eq!(pebble.given(), 1);
}

#[test]
#[ignore = "needs Pebble, built with Go: cargo xtask test runs it"]
fn an_authority_that_wants_an_account_which_exists_gets_the_operators() {
    let ports = Ports::free();
    let mut pebble = ports.authority_that(|settings| settings.binds_accounts = true);
    pebble.start();
    let authority = pebble.authority();
    let site = Site::start(&in_memory(), &ports, &pebble);
    soon(|| {
        site.failures_of(OWN)
            .filter(|count| *count > 0)
            .ok_or("not refused yet")
    });
    drop(site);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    selfsame_driver::private_file::write(&file, Pebble::ACCOUNT_KEY.as_bytes()).unwrap();
    let site = Site::start_with(&in_memory(), &ports, &pebble, |settings| {
        settings.account_key_id = Some(Pebble::ACCOUNT.to_owned());
        settings.account_key_file = Some(file.clone());
    });
    soon(|| site.accepted(OWN, &authority));
}

/// An order at this URL with a key of its own.
fn begun(url: String) -> BegunOrder {
    let key = KeyPair::generate().unwrap().serialize_pem();
    BegunOrder {
        url,
        key: SecretString::from(key),
    }
}
