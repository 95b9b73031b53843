//! Fakes, vector runner and property-test bodies for the other crates' tests.
