//! The study's Table III: the mean response time of each call, in milliseconds.

/// The calls of the scenario, in their order.
pub const STEPS: [&str; 14] = [
    "01_issuer_invitation",
    "02_holder_receives_invitation",
    "03_holder_accepts",
    "04_issuer_issues",
    "05_holder_queries_credential",
    "06_holder_stores",
    "07_verifier_invitation",
    "08_holder_receives_invitation",
    "09_holder_accepts",
    "10_verifier_requests_proof",
    "11_holder_queries_requests",
    "12_holder_queries_credentials",
    "13_holder_sends_proof",
    "14_verifier_validates",
];

/// The columns of the table: numbers of users.
const USERS: [usize; 6] = [20, 40, 60, 80, 100, 120];

/// The means, by call and number of users.
const MEANS: [[f64; 6]; 14] = [
    [52.0, 65.0, 86.0, 137.0, 329.0, 528.0],
    [29.0, 37.0, 39.0, 51.0, 56.0, 43.0],
    [58.0, 71.0, 76.0, 104.0, 113.0, 90.0],
    [52.0, 65.0, 88.0, 152.0, 407.0, 520.0],
    [26.0, 31.0, 39.0, 53.0, 56.0, 30.0],
    [137.0, 171.0, 179.0, 228.0, 243.0, 197.0],
    [105.0, 84.0, 113.0, 181.0, 346.0, 652.0],
    [29.0, 35.0, 43.0, 52.0, 54.0, 43.0],
    [53.0, 71.0, 75.0, 106.0, 118.0, 91.0],
    [42.0, 52.0, 72.0, 107.0, 207.0, 296.0],
    [19.0, 43.0, 49.0, 75.0, 79.0, 42.0],
    [20.0, 43.0, 51.0, 78.0, 86.0, 43.0],
    [163.0, 171.0, 174.0, 209.0, 224.0, 200.0],
    [174.0, 196.0, 222.0, 301.0, 452.0, 866.0],
];

/// The requests in a second, by number of users.
const THROUGHPUT: [f64; 6] = [3.8, 7.5, 11.1, 14.5, 17.6, 20.3];

/// The share of failed requests in percent, by number of users.
const FAILED: [f64; 6] = [0.0, 0.0, 0.0, 0.0, 4.1, 21.6];

/// The scenarios in a second that the study's agents did at their limit.
pub const SCENARIOS_S: f64 = 1.45;

fn column(users: usize) -> Option<usize> {
    USERS.iter().position(|column| *column == users)
}

/// The study's mean for a call.
pub fn mean(step: usize, users: usize) -> Option<f64> {
    MEANS.get(step)?.get(column(users)?).copied()
}

/// The study's requests in a second.
pub fn throughput(users: usize) -> Option<f64> {
    THROUGHPUT.get(column(users)?).copied()
}

/// The study's share of failed requests, in percent.
pub fn failed(users: usize) -> Option<f64> {
    FAILED.get(column(users)?).copied()
}
