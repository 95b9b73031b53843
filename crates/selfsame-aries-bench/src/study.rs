//! The study's Table III: the response time of each call, in milliseconds, and the processor of each server.

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

/// The shortest times.
const LEAST: [[f64; 6]; 14] = [
    [37.0, 34.0, 35.0, 35.0, 19.0, 39.0],
    [21.0, 20.0, 39.0, 20.0, 19.0, 19.0],
    [38.0, 40.0, 38.0, 41.0, 40.0, 40.0],
    [32.0, 33.0, 35.0, 39.0, 44.0, 32.0],
    [18.0, 17.0, 17.0, 17.0, 4.0, 3.0],
    [102.0, 102.0, 101.0, 100.0, 103.0, 102.0],
    [38.0, 36.0, 35.0, 36.0, 35.0, 38.0],
    [20.0, 19.0, 19.0, 19.0, 20.0, 19.0],
    [41.0, 39.0, 40.0, 38.0, 41.0, 39.0],
    [19.0, 18.0, 19.0, 20.0, 19.0, 19.0],
    [8.0, 9.0, 9.0, 9.0, 9.0, 9.0],
    [11.0, 13.0, 13.0, 12.0, 13.0, 12.0],
    [128.0, 126.0, 129.0, 130.0, 128.0, 130.0],
    [141.0, 139.0, 138.0, 145.0, 145.0, 142.0],
];

/// The longest times.
const MOST: [[f64; 6]; 14] = [
    [222.0, 457.0, 546.0, 867.0, 1333.0, 1674.0],
    [133.0, 427.0, 446.0, 746.0, 747.0, 444.0],
    [170.0, 631.0, 715.0, 810.0, 1097.0, 588.0],
    [243.0, 561.0, 590.0, 893.0, 1949.0, 2331.0],
    [176.0, 547.0, 744.0, 658.0, 850.0, 751.0],
    [474.0, 830.0, 893.0, 1347.0, 1379.0, 1103.0],
    [940.0, 656.0, 938.0, 1234.0, 3239.0, 2504.0],
    [127.0, 362.0, 409.0, 509.0, 896.0, 408.0],
    [137.0, 664.0, 497.0, 1138.0, 1304.0, 1564.0],
    [425.0, 502.0, 692.0, 1015.0, 2446.0, 2375.0],
    [111.0, 446.0, 401.0, 640.0, 835.0, 510.0],
    [101.0, 762.0, 534.0, 749.0, 961.0, 718.0],
    [309.0, 714.0, 690.0, 892.0, 1302.0, 939.0],
    [334.0, 731.0, 879.0, 1389.0, 3146.0, 2367.0],
];

/// The processor of the issuer's and the verifier's server and of the registry's, in percent of two cores.
const ISSUER_CPU: [f64; 6] = [9.1, 13.9, 18.2, 28.5, 36.5, 35.3];
const VERIFIER_CPU: [f64; 6] = [6.6, 11.9, 17.1, 25.7, 35.4, 35.6];
const REGISTRY_CPU: [f64; 6] = [11.9, 12.7, 12.5, 12.7, 12.7, 12.6];

/// The requests in a second, by number of users.
const THROUGHPUT: [f64; 6] = [3.8, 7.5, 11.1, 14.5, 17.6, 20.3];

/// The share of failed requests in percent, by number of users.
const FAILED: [f64; 6] = [0.0, 0.0, 0.0, 0.0, 4.1, 21.6];

/// The scenarios in a second that the study's agents did at their limit.
pub const SCENARIOS_S: f64 = 1.45;

/// The requests in a second of 120 users whose agents were two of each, on one database behind nginx.
pub const REPLICAS_CALLS_S: f64 = 23.3;

/// How long a call took in the study.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudyResponse {
    /// The mean.
    pub mean: f64,
    /// The shortest time.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

/// Whether the study has this number of users.
pub fn has(users: usize) -> bool {
    column(users).is_some()
}

fn column(users: usize) -> Option<usize> {
    USERS.iter().position(|column| *column == users)
}

/// How long this call took with this number of users.
pub fn response(step: usize, users: usize) -> Option<StudyResponse> {
    let column = column(users)?;
    let of = |table: &[[f64; 6]; 14]| table.get(step)?.get(column).copied();
    Some(StudyResponse {
        mean: of(&MEANS)?,
        least: of(&LEAST)?,
        most: of(&MOST)?,
    })
}

/// The processor of the server of this name, in percent of one core.
pub fn cpu(server: &str, users: usize) -> Option<f64> {
    let of_two_cores = match server {
        "issuer" => ISSUER_CPU,
        "verifier" => VERIFIER_CPU,
        "registry" => REGISTRY_CPU,
        _ => return None,
    };
    Some(of_two_cores.get(column(users)?)? * 2.0)
}

/// The study's requests in a second.
pub fn throughput(users: usize) -> Option<f64> {
    THROUGHPUT.get(column(users)?).copied()
}

/// The study's share of failed requests, in percent.
pub fn failed(users: usize) -> Option<f64> {
    FAILED.get(column(users)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_a_mean_between_its_least_and_its_most() {
        for step in 0..STEPS.len() {
            for users in USERS {
                let told = response(step, users).unwrap();
                assert!(
                    told.least <= told.mean && told.mean <= told.most,
                    "{step} {users}"
                );
            }
        }
        assert_eq!(response(0, 500), None);
        assert_eq!(cpu("holder", 20), None);
    }
}
