// An application in Express whose people sign in with openid-client's strategy for Passport.

import express from "express";
import session from "express-session";
import * as oidc from "openid-client";
import { Strategy } from "openid-client/passport";
import passport from "passport";

const { ISSUER, CLIENT_ID, CLIENT_SECRET, ORIGIN, PORT } = process.env;
const config = await oidc.discovery(
  new URL(ISSUER),
  CLIENT_ID,
  CLIENT_SECRET,
  oidc.ClientSecretBasic(CLIENT_SECRET),
  // Plain http is for trying out on one machine alone.
  { execute: [oidc.allowInsecureRequests] },
);

const options = { config, scope: "openid email", callbackURL: `${ORIGIN}/callback` };
passport.use(
  "selfsame",
  new Strategy(options, async (tokens, done) => {
    const { sub } = tokens.claims();
    done(null, await oidc.fetchUserInfo(config, tokens.access_token, sub));
  }),
);
passport.serializeUser((person, done) => done(null, person));
passport.deserializeUser((person, done) => done(null, person));

const app = express();
const secret = crypto.randomUUID();
app.use(session({ secret, resave: false, saveUninitialized: false }));
app.use(passport.authenticate("session"));
app.get("/login", passport.authenticate("selfsame"));
app.get("/callback", passport.authenticate("selfsame", { successRedirect: "/" }));
app.get("/", (request, response) => {
  if (!request.user) {
    return response.redirect("/login");
  }
  response.send(`signed in as ${request.user.email}`);
});
app.listen(Number(PORT), "127.0.0.1");
