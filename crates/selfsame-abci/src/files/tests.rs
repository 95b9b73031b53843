//! Tests of the folders of a new network.

use std::os::unix::fs::PermissionsExt as _;

use selfsame_catalogue::{Language, sentence};
use selfsame_crypto::encoding::base64_decode;
use serde_json::Value;

use super::*;

fn members(count: u16) -> Vec<Member> {
    let member = |n: u16| Member {
        name: format!("node-{n}"),
        addresses: Addresses {
            p2p: SocketAddr::from(([127, 0, 0, 1], 26_000 + 2 * n)),
            rpc: SocketAddr::from(([127, 0, 0, 1], 26_001 + 2 * n)),
        },
    };
    (1..=count).map(member).collect()
}

fn create(at: &Path, count: u16) -> Result<Network> {
    let beginning = Beginning {
        name: "test".to_owned(),
        time: UnixTime(1_700_000_000),
        rules: Rules::default(),
        authorities: Vec::new(),
    };
    Network::create(at, beginning, &members(count))
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_damaged_file_of_a_node_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 1).unwrap();
    let home = &network.homes()[0];
    for name in [GENESIS, NODE] {
        let kept = std::fs::read(home.join(name)).unwrap();
        std::fs::write(home.join(name), &kept[..kept.len() / 2]).unwrap();
        let damaged = Home::open(home).unwrap_err();
        assert_eq!(damaged.kind, selfsame_driver::ErrorKind::BadRequest);
        let told = sentence(Language::English, &damaged.reason);
        assert!(told.text.contains(name), "{damaged:?}");
        assert!(told.hint.unwrap().contains("damaged"));
        std::fs::write(home.join(name), kept).unwrap();
    }
    assert!(Home::open(home).is_ok());
}

#[test]
fn every_node_begins_with_the_same_geneses_and_keys_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 4).unwrap();
    let homes: Vec<Home> = network
        .homes()
        .iter()
        .map(|path| Home::open(path).unwrap())
        .collect();
    let engine_genesis = |home: &Home| json(&home.engine().join("config/genesis.json"));
    let first = engine_genesis(&homes[0]);
    assert_eq!(first["validators"].as_array().unwrap().len(), 4);
    for home in &homes {
        assert_eq!(home.genesis(), network.genesis());
        assert_eq!(engine_genesis(home), first);
        let app_state = &engine_genesis(home)["app_state"];
        assert_eq!(app_state.to_string(), app_state_of(&network));
        let key = home.checkpoint_key().unwrap();
        let mut validators = home.genesis().validators().validators().iter();
        let own = validators.find(|one| one.name == home.name()).unwrap();
        assert_eq!(key.public(), &own.key);

        let validator = json(&home.engine().join("config/priv_validator_key.json"));
        let consensus = own.consensus.as_ref().unwrap();
        assert_eq!(
            base64_decode(validator["pub_key"]["value"].as_str().unwrap()).unwrap(),
            consensus.bytes()
        );
        let private = base64_decode(validator["priv_key"]["value"].as_str().unwrap()).unwrap();
        assert_eq!((private.len(), &private[32..]), (64, consensus.bytes()));
    }
}

fn app_state_of(network: &Network) -> String {
    app_state(network.genesis())
}

#[test]
fn secrets_are_readable_by_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 1).unwrap();
    let home = &network.homes()[0];
    let mode = |path: &str| {
        let metadata = std::fs::metadata(home.join(path)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(""), 0o700);
    for secret in [
        "checkpoint.key",
        "engine/config/priv_validator_key.json",
        "engine/config/node_key.json",
    ] {
        assert_eq!(mode(secret), 0o600, "{secret}");
    }
}

#[test]
fn a_network_is_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 1).unwrap();
    let before = std::fs::read(network.homes()[0].join("checkpoint.key")).unwrap();
    let again = create(folder.path(), 1).err().unwrap();
    assert_eq!(again.kind, selfsame_driver::ErrorKind::Conflict);
    let after = std::fs::read(network.homes()[0].join("checkpoint.key")).unwrap();
    assert_eq!(before, after);
}

#[test]
fn a_folder_too_deep_for_a_socket_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a".repeat(100));
    let network = create(&deep, 1).unwrap();
    let refused = Home::open(&network.homes()[0]).unwrap().socket();
    let told = sentence(Language::English, &refused.unwrap_err().reason);
    assert!(told.hint.is_some());
}

#[test]
fn a_node_speaks_to_those_it_was_made_with_and_to_those_its_operator_admits() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 2).unwrap();
    let homes = [0, 1].map(|at| Home::open(&network.homes()[at]).unwrap());
    let name = |home: &Home| home.peer().unwrap().split_once('@').unwrap().0.to_owned();
    let now = UnixTime(1_700_000_000);
    let peers = Peers::of(&homes[1]);
    assert!(peers.admits(&name(&homes[0]), now) && peers.admits(&name(&homes[1]), now));

    // Anyone with a node's public files can make another node, but only the node that made it admits it.
    let member = members(5).pop().unwrap();
    let joined = homes[0]
        .join(&folder.path().join("later"), &member)
        .unwrap();
    let newcomer = name(&joined);
    assert!(
        Peers::of(&homes[0]).admits(&newcomer, now)
            && Peers::of(&joined).admits(&name(&homes[1]), now)
    );
    assert!(!peers.admits(&newcomer, now));
    homes[1].admit(joined.peer().unwrap()).unwrap();
    assert!(peers.admits(&newcomer, now));
    // A name with an equal beginning or in another case is a different name.
    assert!(
        !peers.admits(&newcomer[..39], now)
            && !peers.admits(&newcomer.to_uppercase(), now)
            && !peers.admits("", now)
    );

    assert!(homes[1].dismiss(&newcomer).unwrap());
    assert!(!peers.admits(&newcomer, now) && !homes[1].dismiss(&newcomer).unwrap());
    assert!(homes[1].dismiss(&name(&homes[1])).is_err());
    for wrong in [
        "",
        "abc@127.0.0.1:26656",
        newcomer.as_str(),
        &format!("{newcomer}@host"),
        &format!("{newcomer}@127.0.0.1:1,x"),
    ] {
        assert!(homes[1].admit(wrong).is_err(), "{wrong}");
    }
    std::fs::remove_file(homes[1].path().join(NODE)).unwrap();
    assert!(
        !peers.admits(&name(&homes[0]), now),
        "a node that can't read its peers admits no peer"
    );
}

#[test]
fn a_folder_whose_engine_would_speak_to_everybody_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 1).unwrap();
    let home = Home::open(&network.homes()[0]).unwrap();
    assert_eq!(home.asks_who_speaks(), Ok(()));
    let good = std::fs::read_to_string(home.config()).unwrap();
    let other = |to: &str| good.replacen("filter_peers = true", to, 1);
    let mut late = other("");
    late.push_str("\n[other]\nfilter_peers = true\n");
    for text in [
        other(""),
        other("filter_peers = false"),
        other("# filter_peers = true"),
        late,
    ] {
        std::fs::write(home.config(), text).unwrap();
        let refused = home.asks_who_speaks().unwrap_err();
        assert_eq!(refused.kind, selfsame_driver::ErrorKind::BadRequest);
        let told = sentence(Language::English, &refused.reason);
        assert!(told.hint.unwrap().contains("filter_peers = true"));
    }
    std::fs::write(home.config(), other("filter_peers=true # as written")).unwrap();
    assert_eq!(home.asks_who_speaks(), Ok(()));
}

#[test]
fn the_engine_waits_longer_where_nodes_are_far_apart_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 1).unwrap();
    let home = Home::open(&network.homes()[0]).unwrap();
    let near = std::fs::read_to_string(home.config()).unwrap();
    home.set_distance(Distance::Far).unwrap();
    let far = std::fs::read_to_string(home.config()).unwrap();
    assert!(far.contains("timeout_propose = \"3s\"\ntimeout_propose_delta = \"500ms\"\n"));
    let changed = near
        .lines()
        .zip(far.lines())
        .filter(|(near, far)| near != far);
    assert!(
        changed
            .clone()
            .all(|(near, _)| near.starts_with("timeout_p"))
    );
    assert_eq!(changed.count(), 6);
    // A joining node gets equal timeouts.
    let member = &members(2)[1];
    let joined = home.join(&folder.path().join("joined"), member).unwrap();
    assert!(
        joined
            .settings()
            .unwrap()
            .contains("timeout_prevote = \"1s\"\n")
    );
    home.set_distance(Distance::Near).unwrap();
    assert_eq!(std::fs::read_to_string(home.config()).unwrap(), near);
}

#[test]
fn a_node_is_made_of_the_public_files_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let network = create(folder.path(), 1).unwrap();
    let home = Home::open(&network.homes()[0]).unwrap();
    std::fs::remove_file(home.config()).unwrap();
    std::fs::remove_file(home.path().join(CHECKPOINT_KEY)).unwrap();
    let joined = home.join(&folder.path().join("joined"), &members(2)[1]);
    let settings = joined.unwrap().settings().unwrap();
    assert!(settings.contains("timeout_prevote = \"200ms\"\n"));
}
