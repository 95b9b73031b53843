//! The suite of the ledger's storage.

#[path = "ledger.rs"]
pub mod ledger;

/// Makes a test of each check, for the storage that this expression gives.
macro_rules! conformance {
    ($ledger:expr) => {
        crate::suite::checks! { books, $ledger =>
        ledger:
            blocks_are_appended_in_order,
            an_entry_is_never_taken_twice,
            nodes_of_the_tree_outlive_it_for_a_while,
            keys_are_found_by_their_place,
            a_value_that_holds_its_transactions_hash_comes_back_as_it_was,
            entries_are_found_by_number_and_hash;
        }
    };
}

pub(crate) use conformance;
