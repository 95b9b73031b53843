//! Compares our copy of the engine's rule with the engine's own code (crates/selfsame-abci/oracle).

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use proptest::test_runner::{Config, TestRunner};
use selfsame_crypto::encoding::hex_encode;
use serde::Deserialize;
use serde_json::json;

use super::*;

/// The engine's own code in a process that answers line by line.
struct Oracle {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

#[derive(Debug, Deserialize)]
struct Said {
    why: String,
    after: Option<Vec<Weighed>>,
}

#[derive(Debug, Deserialize)]
struct Weighed {
    key: String,
    power: u64,
}

impl Oracle {
    fn start() -> Self {
        let mut child = Command::new(program())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// The validators after these updates, or why the engine refuses them.
    fn judge(
        &mut self,
        before: &ValidatorSet,
        updates: &[Update],
    ) -> Result<BTreeMap<String, u64>, String> {
        let line =
            |(key, power): (Vec<u8>, u64)| json!({ "key": hex_encode(&key), "power": power });
        let before: Vec<_> = powers(before).into_iter().map(line).collect();
        let updates = updates
            .iter()
            .map(|one| (one.pub_key.to_bytes(), one.power.value()));
        let updates: Vec<_> = updates.map(line).collect();
        let question = json!({ "before": before, "updates": updates });
        writeln!(self.input, "{question}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        let Said { why, after } = serde_json::from_str(&answer).unwrap();
        let after = after.unwrap_or_default().into_iter();
        match why.is_empty() {
            true => Ok(after.map(|one| (one.key, one.power)).collect()),
            false => Err(why),
        }
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The oracle's path: xtask builds it beside the engine.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells the tests where the engine is"
)]
fn program() -> PathBuf {
    let built = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/cometbft/cometbft"
    );
    let engine = std::env::var_os("SELFSAME_COMETBFT").map_or_else(|| built.into(), PathBuf::from);
    let folder = engine.parent().unwrap_or(Path::new("."));
    folder.join("validators")
}

fn weighed(set: &BTreeMap<Vec<u8>, u64>) -> BTreeMap<String, u64> {
    set.iter()
        .map(|(key, power)| (hex_encode(key), *power))
        .collect()
}

#[test]
#[ignore = "needs Go: cargo xtask test runs it"]
fn our_copy_of_the_engines_rule_says_of_any_updates_what_the_engine_says() {
    let keys: Vec<PublicKey> = (0..KEYS).map(|_| key()).collect();
    let of = |(n, power): &(usize, u64)| {
        let mut one = validator(&format!("v{n}"), *power);
        one.consensus = Some(keys[*n].clone());
        one
    };
    let power = prop_oneof![
        3 => 0..4_u64,
        1 => Just(MAX_POWER),
        1 => MAX_TOTAL_POWER - 3..MAX_TOTAL_POWER + 3,
        1 => Just(i64::MAX.unsigned_abs()),
    ];
    let before = prop::collection::btree_map(0..KEYS, 1..4_u64, 1..KEYS);
    let updates = prop::collection::vec((0..KEYS, power), 0..5);
    let oracle = RefCell::new(Oracle::start());
    let cases = Config::with_cases(2_000);
    let crossed = TestRunner::new(cases).run(&(before, updates), |(before, updates)| {
        let before: Vec<(usize, u64)> = before.into_iter().collect();
        let before = set(&before.iter().map(of).collect::<Vec<_>>());
        let updates: Vec<Update> = updates
            .iter()
            .map(|(n, power)| update(keys[*n].bytes(), *power).unwrap())
            .collect();
        let ours = engine_takes(&before, &updates).map_err(|Halt(why)| why);
        let theirs = oracle.borrow_mut().judge(&before, &updates);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        if let Ok(theirs) = theirs {
            let mut after = powers(&before);
            for one in &updates {
                after.insert(one.pub_key.to_bytes(), one.power.value());
            }
            after.retain(|_, power| *power > 0);
            prop_assert_eq!(theirs, weighed(&after));
        }
        Ok(())
    });
    crossed.unwrap();
}

#[test]
#[ignore = "needs Go: cargo xtask test runs it"]
fn the_engine_takes_what_the_machine_accepts_and_has_the_powers_of_the_state() {
    let oracle = RefCell::new(Oracle::start());
    let crossed = TestRunner::new(Config::with_cases(64)).run(&changes(), |blocks| {
        accepted(blocks, |before, after| {
            let updates = updates(before, after).unwrap();
            assert_eq!(
                oracle.borrow_mut().judge(before, &updates),
                Ok(weighed(&powers(after)))
            );
        });
        Ok(())
    });
    crossed.unwrap();
}
