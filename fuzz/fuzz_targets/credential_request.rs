//! Fuzzes `selfsame_testkit::fuzz_bodies::credential_request` with libFuzzer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    selfsame_testkit::fuzz_bodies::credential_request(data);
});
