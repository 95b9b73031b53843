//! Order, room and parallelism of batches.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::definition::PreparedDefinition;
use crate::format::Holder;
use crate::holder::{NamedSecret, create_credential_request};
use crate::issuer::{
    NewDefinition, create_credential_definition, create_offer, search_safe_primes,
};
use crate::testing::{World, ctx, evidence, link_secret, sample, worlds};

fn workers(number: usize) -> Workers {
    Workers::new(NonZeroUsize::new(number).unwrap())
}

#[test]
fn results_come_in_the_order_of_the_jobs() {
    let mut results = Vec::new();
    let work = |n: u64| {
        thread::sleep(Duration::from_micros((n * 7919) % 500));
        n * n
    };
    workers(3).each(0..200, work, |result| results.push(result));
    assert_eq!(results, (0..200).map(|n| n * n).collect::<Vec<_>>());
}

#[test]
fn jobs_are_taken_only_while_there_is_room() {
    let taken = Cell::new(0_usize);
    let mut finished = 0_usize;
    let mut most = 0_usize;
    let jobs = (0..500).inspect(|_| taken.set(taken.get() + 1));
    workers(2).each(
        jobs,
        |n| n,
        |_| {
            most = most.max(taken.get() - finished);
            finished += 1;
        },
    );
    assert_eq!(finished, 500);
    assert!(most <= 2 * WAITING, "{most}");
}

#[test]
fn several_workers_are_at_work_at_once() {
    let at_work = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let work = |_| {
        let now = at_work.fetch_add(1, Ordering::SeqCst) + 1;
        most.fetch_max(now, Ordering::SeqCst);
        // However late the others begin.
        in_time(|| most.load(Ordering::SeqCst) == 3);
        at_work.fetch_sub(1, Ordering::SeqCst);
    };
    workers(3).each(0..12, work, drop);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[test]
fn a_panic_of_the_work_is_the_callers() {
    let outcome = catch_unwind(|| {
        workers(2).each(0..100, |n| assert!(n != 10, "ten"), drop);
    });
    assert!(outcome.is_err());
}

#[test]
fn nothing_to_do_is_done_at_once() {
    Workers::all().each(
        std::iter::empty::<()>(),
        |()| (),
        |()| panic!("nothing was done"),
    );
}

#[test]
fn many_credentials_are_issued_in_order_and_each_as_alone() {
    let world = World::legacy();
    let secret = link_secret();
    let job = |seed: u8| {
        let (schema, id) = (&world.schema_id, &world.cred_def_id);
        let offer = create_offer(schema, id, &world.correctness, &ctx(seed));
        let named = NamedSecret {
            secret: &secret,
            name: "default",
        };
        let both = (world.definition(), &offer);
        let (request, _) =
            create_credential_request(Holder::Entropy("e"), named, both, &ctx(seed)).unwrap();
        let age = seed.to_string();
        let values = [
            ("name", "Eve"),
            ("age", &age),
            ("degree", "Art"),
            ("height", "1"),
            ("id number", "2"),
        ];
        IssueJob {
            offer,
            request,
            values: CredentialValues::of(values),
            index: (seed % 2 == 1).then_some(seed.into()),
            ctx: ctx(seed),
        }
    };
    let jobs: Vec<_> = (1..9).map(job).collect();
    let registry = Some((world.registry(), &world.lists[0]));
    let mut together = Vec::new();
    workers(2).issue_many(&world.issuer, registry, jobs.clone(), |c| together.push(c));
    let mut alone = Vec::new();
    workers(1).issue_many(&world.issuer, registry, jobs.clone(), |c| alone.push(c));
    assert_eq!(together, alone);
    for (job, credential) in jobs.iter().zip(together) {
        let credential = credential.unwrap();
        assert_eq!(credential.values, job.values);
        assert_eq!(credential.rev_reg_id.is_some(), job.index.is_some());
    }
    let mut refused = Vec::new();
    workers(2).issue_many(&world.issuer, None, jobs, |c| refused.push(c.is_err()));
    assert_eq!(
        refused,
        [true, false, true, false, true, false, true, false]
    );
}

#[test]
fn many_presentations_are_judged_in_order() {
    let worlds = worlds();
    let names = ["revealed", "predicates", "non_revoked", "two_credentials"];
    let jobs = (0..8).map(|i| {
        let presentation: Presentation = sample(&format!("presentations/{}.json", names[i % 4]));
        // Every third is for another request.
        let asked = if i % 3 == 2 { (i + 1) % 4 } else { i % 4 };
        let request: PresentationRequest =
            sample(&format!("presentations/{}.request.json", names[asked]));
        (presentation, request)
    });
    let mut valid = Vec::new();
    let known = evidence(&worlds);
    workers(2).verify_many((&known, &Policy::default()), jobs, |verdict| {
        valid.push(verdict.is_valid());
    });
    assert_eq!(valid, [true, true, false, true, true, false, true, true]);
}

/// Randomness of its own for each search.
fn fresh() -> impl FnMut() -> Ctx + Send + 'static {
    let mut seed = 0;
    move || {
        seed += 1;
        ctx(seed)
    }
}

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// Waits for what a thread does, as long as a slow machine may take.
fn in_time(done: impl Fn() -> bool) {
    let mut waits = 0..120_000;
    while !done() {
        assert!(waits.next().is_some(), "it takes too long");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_stock_fills_up_by_itself_and_again_once_some_is_taken() {
    let stock = SafePrimeStock::new(TWO, fresh()).unwrap();
    let first = stock.take().unwrap();
    in_time(|| stock.ready() == 2);
    let second = stock.try_take().unwrap();
    let third = stock.take().unwrap();
    in_time(|| stock.ready() == 2);
    let made = [first, second, third].map(|primes| {
        let world = World::qualified();
        let new = NewDefinition {
            schema_id: &world.schema_id,
            schema: &world.schema,
            issuer_id: &world.schema.issuer_id,
            tag: "t",
            revocable: false,
        };
        let made = create_credential_definition(&new, &primes, &ctx(1)).unwrap();
        let prepared = PreparedDefinition::new(made.definition.clone()).unwrap();
        prepared.key().check_correctness(&made.correctness).unwrap();
        made.definition.value.primary.n
    });
    assert_eq!(BTreeSet::from(made).len(), 3, "no pair is handed out twice");
}

#[test]
fn a_stock_says_when_it_has_none_and_never_holds_more_than_it_was_told() {
    let (go, wait) = channel();
    let searches = Arc::new(AtomicUsize::new(0));
    let begun = Arc::clone(&searches);
    let mut fresh = fresh();
    let held_back = move || {
        wait.recv().unwrap();
        begun.fetch_add(1, Ordering::SeqCst);
        fresh()
    };
    let stock = SafePrimeStock::new(NonZeroUsize::MIN, held_back).unwrap();
    assert!(stock.try_take().is_none());
    (0..3).for_each(|_| go.send(()).unwrap());
    in_time(|| stock.ready() == 1);
    assert!(stock.take().is_some());
    in_time(|| stock.ready() == 1);
    assert_eq!(searches.load(Ordering::SeqCst), 2, "not a third");
}

#[test]
fn a_stock_that_is_dropped_ends_its_search() {
    let (told, ended) = channel::<()>();
    let mut fresh = fresh();
    // The thread owns the sender for as long as it runs.
    let watched = move || {
        let _ = &told;
        fresh()
    };
    let many = NonZeroUsize::new(1_000).unwrap();
    let stock = SafePrimeStock::new(many, watched).unwrap();
    in_time(|| stock.ready() > 0);
    drop(stock);
    assert!(ended.recv().is_err(), "the thread has ended");
}

#[test]
fn who_waits_for_a_search_that_failed_is_told() {
    let stock = SafePrimeStock::new(TWO, || panic!("no randomness")).unwrap();
    assert!(stock.take().is_none());
    assert!(stock.try_take().is_none());
}

#[test]
fn a_search_that_is_not_wanted_any_more_ends_before_its_next_attempt() {
    assert!(search_safe_primes(&ctx(1), &|| false).is_none());
    let attempts = Cell::new(0);
    let once = || attempts.replace(attempts.get() + 1) == 0;
    // One attempt finds one prime at most, and two are needed.
    assert!(search_safe_primes(&ctx(1), &once).is_none());
    assert_eq!(attempts.get(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn every_job_is_done_once(jobs in prop::collection::vec(any::<u32>(), 0..64), number in 1..5_usize) {
        let mut results = Vec::new();
        workers(number).each(jobs.clone(), |n| n, |n| results.push(n));
        prop_assert_eq!(results, jobs);
    }
}
