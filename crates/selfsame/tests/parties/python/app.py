"""An application in Flask whose people sign in with Authlib."""

import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

app = Flask(__name__)
app.secret_key = os.urandom(32)
oauth = OAuth(app)
oauth.register(
    name="selfsame",
    server_metadata_url=os.environ["ISSUER"] + "/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid email", "code_challenge_method": "S256"},
)


@app.get("/")
def home():
    person = session.get("person")
    return f"signed in as {person['email']}" if person else redirect("/login")


@app.get("/login")
def login():
    return oauth.selfsame.authorize_redirect(os.environ["ORIGIN"] + "/callback")


@app.get("/callback")
def callback():
    token = oauth.selfsame.authorize_access_token()
    session["person"] = oauth.selfsame.userinfo(token=token)
    return redirect("/")


if __name__ == "__main__":
    app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
