//! `selfsame demo permits`: six issuers whose credentials need each other, and a business that gets all six.

use async_trait::async_trait;
use clap::Args;
use selfsame_api_commands::Client;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use selfsame_wallet_bench::{
    ApiCall, Business, InstanceApi, PermitStep, PermitsStory, WalkError, walk,
};
use serde_json::Value;

use crate::instance::{Launch, Running};
use selfsame_api_commands::scenario::register;

/// Let a business get six permits from six issuers, each of which asks for earlier ones.
#[derive(Args)]
#[command(after_help = "Example: selfsame demo permits --seed 7
         selfsame demo permits --businesses 1000 > businesses.json")]
pub struct PermitsDemo {
    /// The seed of the business: the same seed gives the same business.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print this number of businesses as JSON lines and end.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    businesses: Option<u64>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl PermitsDemo {
    /// Walks the path, or prints businesses.
    pub async fn run(self) -> End {
        if let Some(number) = self.businesses {
            for number in 0..number {
                output::json(&Business::of(self.seed, number));
            }
            return Ok(Answer::Yes);
        }
        let running = Launch::ephemeral()?.start().await?;
        let walked = self.walk(&running).await;
        running.until(std::future::ready(())).await?;
        let story = walked?;
        match self.json {
            true => output::json(&story),
            false => story.told().iter().for_each(|line| output::say(line)),
        }
        Ok(Answer::Yes)
    }

    async fn walk(&self, running: &Running) -> Result<PermitsStory, Failure> {
        let operator = running.operator()?;
        let wallet = register(&operator).await?;
        let as_json = self.json;
        let mut tell = |step: &PermitStep| {
            if !as_json {
                step.told().iter().for_each(|line| output::say(line));
            }
        };
        if !as_json {
            let business = Business::of(self.seed, 0);
            output::say(&format!(
                "{} in {}, an invented business",
                business.legal_name, business.address_line_1
            ));
        }
        let (operator, wallet) = (Api(operator), Api(wallet));
        let walked = walk(&operator, &wallet, self.seed, &mut tell);
        walked.await.map_err(|error| Failure::ours(error.0))
    }
}

/// The API of the instance, with a token.
struct Api(Client);

#[async_trait]
impl InstanceApi for Api {
    async fn call(&self, call: ApiCall<'_>) -> Result<Value, WalkError> {
        let client = match call.organisation {
            Some(name) => self.0.of_organisation(name),
            None => self.0.clone(),
        };
        let answer = match call.method {
            "GET" => client.get(call.path).await,
            "PUT" => client.put(call.path, call.body).await,
            _ => client.post(call.path, call.body).await,
        };
        answer.map_err(|failure| WalkError(failure.message().to_owned()))
    }
}
