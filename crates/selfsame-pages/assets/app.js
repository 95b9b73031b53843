// What the pages do beyond plain links and forms; each part stands by itself and a page works without it.
import { awaitedDevice } from "./awaited.js";
import { answerInWindow, askByBrowser } from "./browser.js";
import { copyButtons } from "./copy.js";
import { liveLedger } from "./ledger.js";
import { liveTriangle } from "./live.js";
import { liveOffer } from "./offer.js";
import { sendOnce } from "./once.js";
import { passkeyForms } from "./passkeys.js";
import { liveResult } from "./result.js";
import { scanBox } from "./scan.js";
import { typeEditor } from "./types.js";
import { suggestNames } from "./suggest.js";
import { visitedRequest } from "./visit.js";

answerInWindow();
askByBrowser();
awaitedDevice();
copyButtons();
liveLedger();
liveTriangle();
liveOffer();
passkeyForms();
liveResult();
scanBox();
sendOnce();
typeEditor();
suggestNames();
visitedRequest();
