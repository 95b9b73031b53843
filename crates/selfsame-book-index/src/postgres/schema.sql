-- The tables and functions of one book, in a schema of its own. SCHEMA and TRIGRAMS stand for the names of schemas.

CREATE SCHEMA SCHEMA;
CREATE TABLE SCHEMA.state (one int PRIMARY KEY CHECK (one = 1), cursor text NOT NULL);
CREATE TABLE SCHEMA.topics (
    id bigint PRIMARY KEY,
    kind text NOT NULL,
    source_id text NOT NULL,
    main bigint NOT NULL,
    effective bigint NOT NULL,
    revoked bigint,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    search tsvector NOT NULL DEFAULT ''::tsvector
);
CREATE INDEX topics_search ON SCHEMA.topics USING gin (search) WITH (gin_pending_list_limit = 256);
CREATE TABLE SCHEMA.sets (
    id bigint PRIMARY KEY,
    topic bigint NOT NULL,
    latest bigint NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    first_effective bigint NOT NULL,
    last_effective bigint NOT NULL
);
CREATE INDEX sets_of_topic ON SCHEMA.sets (topic, last_effective, id);
CREATE TABLE SCHEMA.credentials (
    id bigint PRIMARY KEY,
    credential_id text NOT NULL,
    topic bigint NOT NULL,
    credential_set bigint NOT NULL,
    type_id text NOT NULL,
    issuer text NOT NULL,
    founds boolean NOT NULL,
    effective bigint NOT NULL,
    expires bigint,
    entered bigint NOT NULL,
    inactive boolean NOT NULL,
    revoked bigint,
    latest boolean NOT NULL,
    body jsonb NOT NULL
);
CREATE INDEX credentials_of_topic ON SCHEMA.credentials (topic, latest, founds DESC, effective, id);
CREATE INDEX credentials_of_set ON SCHEMA.credentials (credential_set, effective, entered);
CREATE TABLE SCHEMA.facts (
    topic bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    label text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    normal text COLLATE "C" NOT NULL,
    searched boolean NOT NULL,
    body text NOT NULL,
    credential bigint NOT NULL,
    uses bigint NOT NULL,
    PRIMARY KEY (topic, kind, label, text)
);
CREATE INDEX facts_beginning ON SCHEMA.facts (normal, topic) WHERE searched;
CREATE TABLE SCHEMA.tokens (topic bigint NOT NULL, facet int NOT NULL, uses bigint NOT NULL, PRIMARY KEY (topic, facet));
CREATE INDEX tokens_of_facet ON SCHEMA.tokens (facet);
CREATE TABLE SCHEMA.facets (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, facet text NOT NULL UNIQUE);
-- How a topic stands is said of its document alone.
INSERT INTO SCHEMA.facets (facet) VALUES ('x:false'), ('x:true'), ('r:false'), ('r:true');
CREATE TABLE SCHEMA.relations (
    topic bigint NOT NULL,
    other bigint NOT NULL,
    relation text NOT NULL,
    kind text NOT NULL,
    source_id text NOT NULL,
    uses bigint NOT NULL,
    PRIMARY KEY (topic, other, relation)
);
CREATE INDEX relations_back ON SCHEMA.relations (other, topic);
CREATE TABLE SCHEMA.words (word text COLLATE "C" PRIMARY KEY, uses bigint NOT NULL) WITH (fillfactor = 50);
CREATE INDEX words_similar ON SCHEMA.words USING gin (word TRIGRAMS.gin_trgm_ops) WITH (gin_pending_list_limit = 1024);

CREATE FUNCTION SCHEMA.facet_number(wanted text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE found int;
BEGIN
    SELECT id INTO found FROM SCHEMA.facets WHERE facet = wanted;
    IF found IS NULL THEN
        INSERT INTO SCHEMA.facets (facet) VALUES (wanted) RETURNING id INTO found;
    END IF;
    RETURN found;
END $$;

CREATE FUNCTION SCHEMA.count_words(normal text, change int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO SCHEMA.words AS known SELECT word, count(*) * change
    FROM unnest(string_to_array(normal, ' ')) AS word WHERE word <> '' GROUP BY word ORDER BY word
    ON CONFLICT (word) DO UPDATE SET uses = known.uses + excluded.uses;
    IF change < 0 THEN
        DELETE FROM SCHEMA.words WHERE word = ANY (string_to_array(normal, ' ')) AND uses <= 0;
    END IF;
END $$;

-- The words of a topic, and the numbers of its facets behind colons, which no word has.
CREATE FUNCTION SCHEMA.document(of_topic bigint, number_of_type text, inactive boolean, revoked boolean) RETURNS tsvector
LANGUAGE plpgsql AS $$
BEGIN
    RETURN array_to_tsvector(array(
        SELECT word FROM (SELECT normal FROM SCHEMA.facts WHERE topic = of_topic AND kind < 't' LIMIT 600) AS own,
            unnest(string_to_array(own.normal, ' ')) AS word WHERE word <> ''
        UNION ALL SELECT ':' || facet FROM (SELECT facet FROM SCHEMA.tokens WHERE topic = of_topic LIMIT 200) AS own
        UNION ALL SELECT ':' || id FROM SCHEMA.facets
            WHERE facet = ANY (array['t:' || number_of_type, 'x:' || inactive::text, 'r:' || revoked::text])));
END $$;

-- Writes which credential founds these topics, and their documents.
CREATE FUNCTION SCHEMA.settle(changed bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE SCHEMA.topics AS own SET main = chosen.id, effective = chosen.effective, revoked = chosen.revoked,
        search = SCHEMA.document(own.id, chosen.number_of_type, chosen.inactive, chosen.revoked IS NOT NULL)
    FROM (SELECT DISTINCT topic FROM unnest(changed) AS topic) AS one,
        LATERAL (SELECT id, effective, revoked, inactive, body->>'number_of_type' AS number_of_type
            FROM SCHEMA.credentials WHERE topic = one.topic AND latest
            ORDER BY founds DESC, credentials.effective, id LIMIT 1) AS chosen
    WHERE own.id = one.topic;
END $$;

CREATE FUNCTION SCHEMA.state_fact(of_topic bigint, fact jsonb, says bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE SCHEMA.facts SET uses = uses + 1
    WHERE topic = of_topic AND kind = fact->>'kind' AND label = fact->>'label' AND text = fact->>'text';
    IF NOT FOUND THEN
        INSERT INTO SCHEMA.facts VALUES (of_topic, fact->>'kind', fact->>'label', fact->>'text', fact->>'normal',
            fact->>'kind' <> 't', fact->>'body', says, 1);
        IF fact->>'kind' <> 't' THEN
            PERFORM SCHEMA.count_words(fact->>'normal', 1);
        END IF;
    END IF;
END $$;

CREATE FUNCTION SCHEMA.put_in_force(credential bigint, of_topic bigint, body jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE one jsonb;
BEGIN
    PERFORM SCHEMA.facet_number('t:' || (body->>'number_of_type'));
    FOR one IN SELECT jsonb_array_elements(body->'facts') LOOP
        PERFORM SCHEMA.state_fact(of_topic, one, credential);
    END LOOP;
    FOR one IN SELECT jsonb_array_elements(body->'facets') LOOP
        INSERT INTO SCHEMA.tokens VALUES (of_topic, SCHEMA.facet_number(one#>>'{}'), 1)
        ON CONFLICT (topic, facet) DO UPDATE SET uses = SCHEMA.tokens.uses + 1;
    END LOOP;
    FOR one IN SELECT jsonb_array_elements(body->'relations') LOOP
        INSERT INTO SCHEMA.relations VALUES (of_topic, (one->>'other')::bigint, one->>'relation', one->>'kind', one->>'source_id', 1)
        ON CONFLICT (topic, other, relation) DO UPDATE SET uses = SCHEMA.relations.uses + 1;
    END LOOP;
END $$;

CREATE FUNCTION SCHEMA.take_back(gone bigint, of_topic bigint, body jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one jsonb;
    rest bigint;
    says bigint;
BEGIN
    FOR one IN SELECT jsonb_array_elements(body->'facts') LOOP
        UPDATE SCHEMA.facts SET uses = uses - 1
        WHERE topic = of_topic AND kind = one->>'kind' AND label = one->>'label' AND text = one->>'text'
        RETURNING uses, credential INTO rest, says;
        IF rest <= 0 THEN
            DELETE FROM SCHEMA.facts
            WHERE topic = of_topic AND kind = one->>'kind' AND label = one->>'label' AND text = one->>'text';
            IF one->>'kind' <> 't' THEN
                PERFORM SCHEMA.count_words(one->>'normal', -1);
            END IF;
        ELSIF says = gone THEN
            UPDATE SCHEMA.facts AS fact SET credential = coalesce((
                SELECT id FROM SCHEMA.credentials AS other
                WHERE other.topic = of_topic AND other.latest AND other.id <> gone
                    AND other.body->'facts' @> jsonb_build_array(one) LIMIT 1), 0)
            WHERE topic = of_topic AND kind = one->>'kind' AND label = one->>'label' AND text = one->>'text';
        END IF;
    END LOOP;
    FOR one IN SELECT jsonb_array_elements(body->'facets') LOOP
        UPDATE SCHEMA.tokens SET uses = uses - 1 WHERE topic = of_topic AND facet = SCHEMA.facet_number(one#>>'{}');
    END LOOP;
    WITH gone_ones AS (DELETE FROM SCHEMA.tokens WHERE topic = of_topic AND uses <= 0 RETURNING facet)
    DELETE FROM SCHEMA.facets WHERE id IN (SELECT facet FROM gone_ones)
        AND (SELECT true FROM SCHEMA.tokens WHERE tokens.facet = facets.id AND tokens.topic <> of_topic LIMIT 1) IS NULL;
    FOR one IN SELECT jsonb_array_elements(body->'relations') LOOP
        UPDATE SCHEMA.relations SET uses = uses - 1
        WHERE topic = of_topic AND other = (one->>'other')::bigint AND relation = one->>'relation';
    END LOOP;
    DELETE FROM SCHEMA.relations WHERE topic = of_topic AND uses <= 0;
END $$;

-- Enters one credential, whatever the book has. Returns its topic if that changed.
CREATE FUNCTION SCHEMA.enter(entry jsonb) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    known record;
    before record;
    is_latest boolean;
    own bigint := (entry->>'id')::bigint;
    of_topic bigint := (entry->>'topic')::bigint;
    of_set bigint := (entry->>'set')::bigint;
    at bigint := (entry->>'effective')::bigint;
    now bigint := (entry->>'entered')::bigint;
BEGIN
    SELECT credential_id INTO known FROM SCHEMA.credentials WHERE id = own;
    IF FOUND THEN
        IF known.credential_id <> entry->>'credential_id' THEN
            RAISE WARNING 'not shown in the book: two credentials have the number %', own;
        END IF;
        RETURN NULL;
    END IF;
    SELECT s.topic, c.type_id INTO known FROM SCHEMA.sets AS s JOIN SCHEMA.credentials AS c ON c.id = s.latest
    WHERE s.id = of_set;
    IF FOUND AND (known.topic <> of_topic OR known.type_id <> entry->>'type_id') THEN
        RAISE WARNING 'not shown in the book: two sets have the number %', of_set;
        RETURN NULL;
    END IF;
    SELECT kind, source_id INTO known FROM SCHEMA.topics WHERE id = of_topic;
    IF NOT FOUND THEN
        INSERT INTO SCHEMA.topics VALUES (of_topic, entry->>'kind', entry->>'source_id', 0, 0, NULL, now, now);
        PERFORM SCHEMA.state_fact(of_topic, entry->'source', own);
    ELSIF known.kind <> entry->>'kind' OR known.source_id <> entry->>'source_id' THEN
        RAISE WARNING 'not shown in the book: two topics have the number %', of_topic;
        RETURN NULL;
    ELSE
        UPDATE SCHEMA.topics SET updated = now WHERE id = of_topic AND updated < now;
    END IF;
    SELECT c.id, c.effective, c.body INTO before FROM SCHEMA.sets AS s JOIN SCHEMA.credentials AS c ON c.id = s.latest
    WHERE s.id = of_set;
    is_latest := NOT FOUND OR before.effective <= at;
    INSERT INTO SCHEMA.credentials VALUES (own, entry->>'credential_id', of_topic, of_set, entry->>'type_id', entry->>'issuer',
        (entry->>'founds')::boolean, at, (entry->>'expires')::bigint, now, (entry->>'inactive')::boolean, NULL, is_latest, entry->'body');
    IF is_latest THEN
        IF before.id IS NOT NULL THEN
            UPDATE SCHEMA.credentials SET latest = false WHERE id = before.id;
            PERFORM SCHEMA.take_back(before.id, of_topic, before.body);
        END IF;
        PERFORM SCHEMA.put_in_force(own, of_topic, entry->'body');
    END IF;
    INSERT INTO SCHEMA.sets AS s VALUES (of_set, of_topic, own, now, now, at, at)
    ON CONFLICT (id) DO UPDATE SET latest = CASE WHEN is_latest THEN own ELSE s.latest END,
        updated = greatest(s.updated, now),
        first_effective = least(s.first_effective, at), last_effective = greatest(s.last_effective, at);
    RETURN of_topic;
END $$;

-- Enters credentials that replace none, each the only one of its set, whose numbers are those of no other names. The
-- tables of a topic that is new have nothing of it, so that nothing is looked up there.
CREATE FUNCTION SCHEMA.enter_new(entries jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE known bigint[];
BEGIN
    known := array(SELECT topics.id
        FROM (SELECT DISTINCT e.topic FROM jsonb_to_recordset(entries) AS e (topic bigint)) AS own
            JOIN SCHEMA.topics ON topics.id = own.topic);
    INSERT INTO SCHEMA.facets (facet)
    SELECT facet FROM (
        SELECT jsonb_array_elements_text(e.body->'facets') AS facet FROM jsonb_to_recordset(entries) AS e (body jsonb)
        UNION SELECT 't:' || (e.body->>'number_of_type') FROM jsonb_to_recordset(entries) AS e (body jsonb)) AS stated
    WHERE (SELECT true FROM SCHEMA.facets WHERE facets.facet = stated.facet) IS NULL;
    INSERT INTO SCHEMA.credentials
    SELECT e.id, e.credential_id, e.topic, e.set, e.type_id, e.issuer, e.founds, e.effective, e.expires, e.entered, e.inactive,
        NULL, true, e.body
    FROM jsonb_to_recordset(entries) AS e (id bigint, credential_id text, topic bigint, "set" bigint, type_id text, issuer text,
        founds boolean, effective bigint, expires bigint, entered bigint, inactive boolean, body jsonb);
    INSERT INTO SCHEMA.sets
    SELECT e.set, e.topic, e.id, e.entered, e.entered, e.effective, e.effective
    FROM jsonb_to_recordset(entries) AS e (id bigint, topic bigint, "set" bigint, effective bigint, entered bigint);
    IF known <> '{}' THEN
        PERFORM SCHEMA.state_again(entries, known);
    END IF;
    WITH stated AS (
        SELECT e.topic, one.kind, one.label, one.text, min(one.normal) AS normal, min(one.body) AS body, min(e.id) AS says,
            count(*) AS uses
        FROM jsonb_to_recordset(entries) AS e (id bigint, topic bigint, body jsonb),
            jsonb_to_recordset(e.body->'facts') AS one (kind text, label text, text text, normal text, body text)
        GROUP BY e.topic, one.kind, one.label, one.text
        UNION ALL
        SELECT e.topic, 's', '', min(e.source_id), min(e.source->>'normal'), '', min(e.id), 1
        FROM jsonb_to_recordset(entries) AS e (id bigint, topic bigint, source_id text, source jsonb)
        WHERE e.topic <> ALL (known) GROUP BY e.topic
    ), stored AS (
        INSERT INTO SCHEMA.facts SELECT topic, kind, label, text, normal, kind <> 't', body, says, uses FROM stated
        WHERE topic <> ALL (known) OR (SELECT true FROM SCHEMA.facts AS had WHERE had.topic = stated.topic
            AND had.kind = stated.kind COLLATE "C" AND had.label = stated.label COLLATE "C"
            AND had.text = stated.text COLLATE "C") IS NULL
        RETURNING normal, searched
    )
    INSERT INTO SCHEMA.words AS known_word
    SELECT word, count(*) FROM stored, unnest(string_to_array(stored.normal, ' ')) AS word
    WHERE stored.searched AND word <> '' GROUP BY word ORDER BY word
    ON CONFLICT (word) DO UPDATE SET uses = known_word.uses + excluded.uses;
    INSERT INTO SCHEMA.tokens
    SELECT stated.topic, facets.id, count(*)
    FROM (SELECT e.topic, jsonb_array_elements_text(e.body->'facets') AS facet
        FROM jsonb_to_recordset(entries) AS e (topic bigint, body jsonb)) AS stated
        JOIN SCHEMA.facets ON facets.facet = stated.facet
    WHERE stated.topic <> ALL (known)
        OR (SELECT true FROM SCHEMA.tokens AS had WHERE had.topic = stated.topic AND had.facet = facets.id) IS NULL
    GROUP BY stated.topic, facets.id;
    INSERT INTO SCHEMA.relations
    SELECT e.topic, one.other, one.relation, (array_agg(one.kind))[1], (array_agg(one.source_id))[1], count(*)
    FROM jsonb_to_recordset(entries) AS e (topic bigint, body jsonb),
        jsonb_to_recordset(e.body->'relations') AS one (other bigint, relation text, kind text, source_id text)
    GROUP BY e.topic, one.other, one.relation
    ON CONFLICT (topic, other, relation) DO UPDATE SET uses = SCHEMA.relations.uses + excluded.uses;
    INSERT INTO SCHEMA.topics
    SELECT DISTINCT ON (own.topic) own.topic, own.kind, own.source_id, own.id, own.effective, NULL::bigint, own.created, own.updated,
        CASE WHEN own.credentials > 1 THEN SCHEMA.document(own.topic, own.body->>'number_of_type', own.inactive, false)
        ELSE array_to_tsvector(string_to_array(own.words, ' ') || array(SELECT ':' || facets.id FROM SCHEMA.facets
            WHERE facets.facet = ANY (array['t:' || (own.body->>'number_of_type'), 'x:' || own.inactive::text, 'r:false']
                || array(SELECT jsonb_array_elements_text(own.body->'facets')))))
        END
    FROM (SELECT e.*, count(*) OVER all_of AS credentials, min(e.entered) OVER all_of AS created,
            max(e.entered) OVER all_of AS updated
        FROM jsonb_to_recordset(entries) AS e (id bigint, topic bigint, kind text, source_id text, founds boolean,
            effective bigint, entered bigint, inactive boolean, words text, body jsonb)
        WHERE e.topic <> ALL (known) WINDOW all_of AS (PARTITION BY e.topic)) AS own
    ORDER BY own.topic, own.founds DESC, own.effective, own.id;
    PERFORM SCHEMA.settle(known);
END $$;

-- Counts what these credentials say of topics that are known once more where it is known too.
CREATE FUNCTION SCHEMA.state_again(entries jsonb, known bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE SCHEMA.topics SET updated = own.entered
    FROM (SELECT e.topic, max(e.entered) AS entered FROM jsonb_to_recordset(entries) AS e (topic bigint, entered bigint)
        WHERE e.topic = ANY (known) GROUP BY e.topic) AS own
    WHERE topics.id = own.topic AND topics.updated < own.entered;
    UPDATE SCHEMA.facts AS had SET uses = had.uses + stated.uses
    FROM (SELECT e.topic, one.kind, one.label, one.text, count(*) AS uses
        FROM jsonb_to_recordset(entries) AS e (topic bigint, body jsonb),
            jsonb_to_recordset(e.body->'facts') AS one (kind text, label text, text text)
        WHERE e.topic = ANY (known) GROUP BY e.topic, one.kind, one.label, one.text) AS stated
    WHERE had.topic = stated.topic AND had.kind = stated.kind COLLATE "C" AND had.label = stated.label COLLATE "C"
        AND had.text = stated.text COLLATE "C";
    UPDATE SCHEMA.tokens AS had SET uses = had.uses + stated.uses
    FROM (SELECT own.topic, facets.id AS facet, count(*) AS uses
        FROM (SELECT e.topic, jsonb_array_elements_text(e.body->'facets') AS facet
            FROM jsonb_to_recordset(entries) AS e (topic bigint, body jsonb) WHERE e.topic = ANY (known)) AS own
            JOIN SCHEMA.facets ON facets.facet = own.facet
        GROUP BY own.topic, facets.id) AS stated
    WHERE had.topic = stated.topic AND had.facet = stated.facet;
END $$;

-- The places of the entries, from 1, that `enter_new` must not take.
CREATE FUNCTION SCHEMA.apart(entries jsonb) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN array(SELECT own.place FROM (
        SELECT e.*, count(*) OVER (PARTITION BY e.id) AS same, count(*) OVER (PARTITION BY e.set) AS of_set,
            min(e.kind) OVER of_topic <> max(e.kind) OVER of_topic
                OR min(e.source_id) OVER of_topic <> max(e.source_id) OVER of_topic AS differs
        FROM ROWS FROM (jsonb_to_recordset(entries) AS (id bigint, topic bigint, "set" bigint, kind text, source_id text))
            WITH ORDINALITY AS e (id, topic, "set", kind, source_id, place)
        WINDOW of_topic AS (PARTITION BY e.topic)
    ) AS own
    WHERE own.same > 1 OR own.of_set > 1 OR own.differs
        OR (SELECT true FROM SCHEMA.credentials WHERE id = own.id)
        OR (SELECT true FROM SCHEMA.sets WHERE id = own.set)
        OR (SELECT kind <> own.kind OR source_id <> own.source_id FROM SCHEMA.topics WHERE id = own.topic));
END $$;

-- Enters credentials: most are new, and are entered together; each of the others is entered by itself, in order.
CREATE FUNCTION SCHEMA.enter_all(entries jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    others bigint[] := SCHEMA.apart(entries);
    changed bigint[] := '{}';
    one jsonb;
BEGIN
    IF others = '{}' THEN
        PERFORM SCHEMA.enter_new(entries);
        RETURN;
    END IF;
    IF cardinality(others) < jsonb_array_length(entries) THEN
        PERFORM SCHEMA.enter_new((SELECT jsonb_agg(e.entry ORDER BY e.place)
            FROM jsonb_array_elements(entries) WITH ORDINALITY AS e (entry, place) WHERE e.place <> ALL (others)));
    END IF;
    FOR one IN SELECT e.entry FROM jsonb_array_elements(entries) WITH ORDINALITY AS e (entry, place)
        WHERE e.place = ANY (others) ORDER BY e.place
    LOOP
        changed := changed || SCHEMA.enter(one);
    END LOOP;
    PERFORM SCHEMA.settle(changed);
END $$;

-- Removes a credential. Returns its topic, or nothing if that is gone too.
CREATE FUNCTION SCHEMA.remove(gone_id bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    gone record;
    next record;
BEGIN
    SELECT id, topic, credential_set, latest, body INTO gone FROM SCHEMA.credentials WHERE id = gone_id;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF gone.latest THEN
        PERFORM SCHEMA.take_back(gone.id, gone.topic, gone.body);
    END IF;
    DELETE FROM SCHEMA.credentials WHERE id = gone.id;
    SELECT id, topic, body INTO next FROM SCHEMA.credentials WHERE credential_set = gone.credential_set
    ORDER BY effective DESC, entered DESC LIMIT 1;
    IF NOT FOUND THEN
        DELETE FROM SCHEMA.sets WHERE id = gone.credential_set;
    ELSE
        UPDATE SCHEMA.sets SET latest = next.id,
            first_effective = (SELECT min(effective) FROM SCHEMA.credentials WHERE credential_set = gone.credential_set),
            last_effective = (SELECT max(effective) FROM SCHEMA.credentials WHERE credential_set = gone.credential_set)
        WHERE id = gone.credential_set;
        IF gone.latest THEN
            UPDATE SCHEMA.credentials SET latest = true WHERE id = next.id;
            PERFORM SCHEMA.put_in_force(next.id, next.topic, next.body);
        END IF;
    END IF;
    IF EXISTS (SELECT FROM SCHEMA.credentials WHERE topic = gone.topic AND latest) THEN
        RETURN gone.topic;
    END IF;
    PERFORM SCHEMA.count_words(normal, -1) FROM SCHEMA.facts WHERE topic = gone.topic AND searched;
    DELETE FROM SCHEMA.facts WHERE topic = gone.topic;
    DELETE FROM SCHEMA.topics WHERE id = gone.topic;
    RETURN NULL;
END $$;

-- Removes and revokes credentials.
CREATE FUNCTION SCHEMA.change_all(changes jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    change jsonb;
    of_topic bigint;
    changed bigint[] := '{}';
BEGIN
    FOR change IN SELECT jsonb_array_elements(changes) LOOP
        IF change ? 'remove' THEN
            changed := changed || SCHEMA.remove((change->>'remove')::bigint);
        ELSE
            UPDATE SCHEMA.credentials SET revoked = coalesce(revoked, (change->>'at')::bigint)
            WHERE id = (change->>'revoke')::bigint RETURNING topic INTO of_topic;
            IF FOUND THEN
                changed := changed || of_topic;
            END IF;
        END IF;
    END LOOP;
    PERFORM SCHEMA.settle(changed);
END $$;
