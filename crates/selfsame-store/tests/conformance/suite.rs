//! The conformance suite: one list of checks, run against every back end.

pub mod erasure;
pub mod events;
pub mod ground;
pub mod model;
pub mod outbox;
pub mod races;
pub mod records;
pub mod rotation;

/// Makes a test of each check, for the back end that this expression gives.
macro_rules! conformance {
    ($ground:expr) => {
        $crate::suite::checks! { suite, $ground =>
        records:
            what_is_put_is_read_again_also_after_reopening,
            a_put_replaces_the_whole_record_and_keeps_its_place,
            an_update_keeps_tags_and_expiry,
            a_batch_whose_expectation_fails_writes_nothing,
            versions_never_come_back,
            tags_find_records_in_order_page_by_page,
            lists_go_both_ways_page_by_page,
            what_a_tenant_keeps_of_a_kind_has_a_number_and_a_weight,
            counting_what_a_tenant_keeps_ends_at_a_bound,
            what_has_expired_reads_as_absent_and_is_purged,
            an_expired_record_makes_room_for_a_new_one,
            tenants_do_not_see_each_other,
            a_value_moved_elsewhere_does_not_open,
            nothing_of_a_value_or_a_hashed_tag_is_kept_in_the_clear,
            another_master_key_is_refused,
            limits_hold,
            durable_commits_are_counted;
        races:
            of_many_commits_with_one_expectation_exactly_one_wins,
            of_many_commits_that_expect_absence_exactly_one_wins,
            allocated_numbers_never_repeat,
            a_tenant_first_seen_by_many_gets_one_key;
        outbox:
            entries_of_a_lane_come_one_after_the_other,
            the_oldest_entry_that_waits_is_told,
            an_entry_is_leased_to_one_at_a_time,
            a_settled_entry_is_never_given_again,
            a_retried_entry_waits_and_holds_its_lane,
            a_dead_letter_frees_its_lane_and_can_be_replayed,
            old_dead_letters_are_purged,
            entries_survive_reopening;
        events:
            an_event_is_in_the_commit_of_what_it_tells_or_nowhere,
            events_are_read_on_from_a_cursor_also_after_reopening,
            a_reader_sees_every_event_of_many_writers_once,
            old_events_are_purged_in_portions_and_the_newest_stays,
            positions_do_not_begin_again_after_all_other_events_were_purged,
            the_number_of_events_kept_is_bounded,
            a_cursor_of_another_history_is_not_known;
        erasure:
            records_of_all_kinds_but_those_kept_are_erased_in_portions,
            a_destroyed_tenant_is_unreadable_from_the_first_portion_on,
            a_destruction_goes_on_after_reopening_and_leaves_no_row,
            the_calls_of_a_destroyed_tenant_stop_and_those_of_others_go_on,
            the_instance_itself_is_neither_erased_nor_destroyed;
        rotation:
            after_a_rotation_the_new_key_opens_everything_and_the_former_one_nothing,
            a_rotation_goes_on_after_a_start_at_every_step_with_one_of_the_keys,
            of_two_rotations_at_once_one_is_refused,
            tenants_that_come_during_a_rotation_are_under_the_new_key_too,
            reads_and_writes_go_on_during_a_rotation,
            a_destroyed_tenant_stays_unreadable_after_a_rotation;
        model:
            any_sequence_of_batches_does_what_the_model_does;
        }
    };
}

macro_rules! checks {
    ($of:ident, $ground:expr => $($area:ident: $($check:ident),+;)+) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $check() {
                $crate::$of::$area::$check($ground).await;
            }
        )+)+
    };
}

pub(crate) use {checks, conformance};
