//! The study's table: the response time of each of eSignet's seven calls, with 106 users and a hundred requests a second
//! for half an hour, and an identity system that answers a second later.

/// The calls of a sign-in, in their order.
pub const CALLS: [&str; 7] = [
    "01_csrf",
    "02_oauth_details",
    "03_send_otp",
    "04_authenticate",
    "05_auth_code",
    "06_token",
    "07_userinfo",
];

/// Whether a call goes on to the identity system.
pub const DELEGATED: [bool; 7] = [false, false, true, true, false, true, false];

/// The study's limit of each call's response time, in milliseconds.
pub const LIMITS_MS: [f64; 7] = [100.0, 100.0, 1_500.0, 1_500.0, 100.0, 1_500.0, 100.0];

/// The table, by call: samples, the least time, the average, the p90 and the most in milliseconds, errors in percent.
pub const TABLE: [[f64; 6]; 7] = [
    [25_969.0, 7.0, 12.0, 17.0, 358.0, 0.0],
    [25_968.0, 6.0, 12.0, 17.0, 391.0, 0.0],
    [25_968.0, 1_017.0, 1_095.0, 1_260.0, 1_719.0, 0.0],
    [25_952.0, 1_025.0, 1_101.0, 1_258.0, 1_754.0, 0.03],
    [25_934.0, 7.0, 14.0, 19.0, 1_026.0, 0.0],
    [25_934.0, 1_030.0, 1_106.0, 1_267.0, 1_964.0, 0.0],
    [25_918.0, 6.0, 12.0, 17.0, 437.0, 0.0],
];

/// The longest p90 of the calls that go on to the identity system, in milliseconds.
pub const DELEGATED_P90: f64 = 1_267.0;

/// The study's users.
pub const USERS: usize = 106;
/// The requests in a second that they sent together.
pub const REQUESTS_S: usize = 100;
/// The sign-ins in a second of that run. Its users sent no more, so it is not the most that the provider could do.
pub const SIGN_INS_S: f64 = 14.4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_its_average_between_its_least_and_its_most() {
        for (name, [_, least, average, p90, most, _]) in CALLS.iter().zip(TABLE) {
            assert!(least <= average && average <= p90 && p90 <= most, "{name}");
        }
    }

    #[test]
    fn the_calls_that_took_a_second_are_those_that_go_on_to_the_identity_system() {
        for ((name, call), is_delegated) in CALLS.iter().zip(TABLE).zip(DELEGATED) {
            assert_eq!(call[1] > 1_000.0, is_delegated, "{name}");
        }
        let p90s = TABLE.iter().map(|call| call[3]);
        assert_eq!(p90s.fold(0.0, f64::max), DELEGATED_P90);
    }
}
