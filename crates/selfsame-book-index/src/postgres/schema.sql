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
CREATE INDEX topics_search ON SCHEMA.topics USING gin (search);
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
CREATE TABLE SCHEMA.words (word text COLLATE "C" PRIMARY KEY, uses bigint NOT NULL);
CREATE INDEX words_similar ON SCHEMA.words USING gin (word TRIGRAMS.gin_trgm_ops);
-- What a batch leaves to be done at its end.
CREATE UNLOGGED TABLE SCHEMA.word_changes (word text NOT NULL, change int NOT NULL);
CREATE UNLOGGED TABLE SCHEMA.topic_changes (topic bigint PRIMARY KEY);
CREATE UNLOGGED TABLE SCHEMA.facet_changes (facet int PRIMARY KEY);

CREATE FUNCTION SCHEMA.facet_number(wanted text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE found int;
BEGIN
    SELECT id INTO found FROM SCHEMA.facets WHERE facet = wanted;
    IF found IS NULL THEN
        INSERT INTO SCHEMA.facets (facet) VALUES (wanted) RETURNING id INTO found;
    END IF;
    RETURN found;
END $$;

CREATE FUNCTION SCHEMA.count_words(normal text, change int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO SCHEMA.word_changes SELECT word, change FROM unnest(string_to_array(normal, ' ')) AS word WHERE word <> '';
$$;

CREATE FUNCTION SCHEMA.state_fact(of_topic bigint, fact jsonb, says bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE SCHEMA.facts SET uses = uses + 1
    WHERE topic = of_topic AND kind = fact->>'kind' AND label = fact->>'label' AND text = fact->>'text';
    IF NOT FOUND THEN
        INSERT INTO SCHEMA.facts VALUES (of_topic, fact->>'kind', fact->>'label', fact->>'text', fact->>'normal',
            (fact->>'searched')::boolean, fact->>'body', says, 1);
        IF (fact->>'searched')::boolean THEN
            PERFORM SCHEMA.count_words(fact->>'normal', 1);
        END IF;
    END IF;
END $$;

CREATE FUNCTION SCHEMA.put_in_force(credential bigint, of_topic bigint, body jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE one jsonb;
BEGIN
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
            IF (one->>'searched')::boolean THEN
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
    INSERT INTO SCHEMA.facet_changes SELECT facet FROM SCHEMA.tokens WHERE topic = of_topic AND uses <= 0
    ON CONFLICT DO NOTHING;
    DELETE FROM SCHEMA.tokens WHERE topic = of_topic AND uses <= 0;
    FOR one IN SELECT jsonb_array_elements(body->'relations') LOOP
        UPDATE SCHEMA.relations SET uses = uses - 1
        WHERE topic = of_topic AND other = (one->>'other')::bigint AND relation = one->>'relation';
    END LOOP;
    DELETE FROM SCHEMA.relations WHERE topic = of_topic AND uses <= 0;
END $$;

CREATE FUNCTION SCHEMA.choose_main(of_topic bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE chosen record;
BEGIN
    INSERT INTO SCHEMA.topic_changes VALUES (of_topic) ON CONFLICT DO NOTHING;
    SELECT id, effective, revoked INTO chosen FROM SCHEMA.credentials
    WHERE topic = of_topic AND latest ORDER BY founds DESC, effective, id LIMIT 1;
    IF FOUND THEN
        UPDATE SCHEMA.topics SET main = chosen.id, effective = chosen.effective, revoked = chosen.revoked WHERE id = of_topic;
    ELSE
        PERFORM SCHEMA.count_words(normal, -1) FROM SCHEMA.facts WHERE topic = of_topic AND searched;
        DELETE FROM SCHEMA.facts WHERE topic = of_topic;
        DELETE FROM SCHEMA.topics WHERE id = of_topic;
    END IF;
END $$;

CREATE FUNCTION SCHEMA.enter(entry jsonb) RETURNS void LANGUAGE plpgsql AS $$
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
        RETURN;
    END IF;
    SELECT s.topic, c.type_id INTO known FROM SCHEMA.sets AS s JOIN SCHEMA.credentials AS c ON c.id = s.latest
    WHERE s.id = of_set;
    IF FOUND AND (known.topic <> of_topic OR known.type_id <> entry->>'type_id') THEN
        RAISE WARNING 'not shown in the book: two sets have the number %', of_set;
        RETURN;
    END IF;
    SELECT kind, source_id INTO known FROM SCHEMA.topics WHERE id = of_topic;
    IF NOT FOUND THEN
        INSERT INTO SCHEMA.topics VALUES (of_topic, entry->>'kind', entry->>'source_id', 0, 0, NULL, now, now);
        PERFORM SCHEMA.state_fact(of_topic, entry->'source', own);
    ELSIF known.kind <> entry->>'kind' OR known.source_id <> entry->>'source_id' THEN
        RAISE WARNING 'not shown in the book: two topics have the number %', of_topic;
        RETURN;
    ELSE
        UPDATE SCHEMA.topics SET updated = greatest(updated, now) WHERE id = of_topic AND updated < now;
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
    PERFORM SCHEMA.choose_main(of_topic);
END $$;

CREATE FUNCTION SCHEMA.remove(gone_id bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gone record;
    next record;
BEGIN
    SELECT id, topic, credential_set, latest, body INTO gone FROM SCHEMA.credentials WHERE id = gone_id;
    IF NOT FOUND THEN
        RETURN;
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
    PERFORM SCHEMA.choose_main(gone.topic);
END $$;

CREATE FUNCTION SCHEMA.document(of_topic bigint, number_of_type text) RETURNS tsvector LANGUAGE sql AS $$
    SELECT array_to_tsvector(array(
        SELECT word FROM (SELECT normal FROM SCHEMA.facts WHERE topic = of_topic AND searched LIMIT 600) AS own,
            unnest(string_to_array(own.normal, ' ')) AS word WHERE word <> ''
        UNION SELECT 'f:' || facet FROM (SELECT facet FROM SCHEMA.tokens WHERE topic = of_topic LIMIT 200) AS own
        UNION SELECT 'f:' || SCHEMA.facet_number(status) FROM SCHEMA.topics JOIN SCHEMA.credentials AS c ON c.id = topics.main,
            unnest(array['t:' || number_of_type, 'x:' || c.inactive::text, 'r:' || (c.revoked IS NOT NULL)::text]) AS status
        WHERE topics.id = of_topic))
$$;

-- Row by row: each statement names the row that it changes, so that no plan made while the tables were small reads all.
CREATE FUNCTION SCHEMA.finish() RETURNS void LANGUAGE plpgsql AS $$
DECLARE one record;
BEGIN
    FOR one IN SELECT word, sum(change) AS change FROM SCHEMA.word_changes GROUP BY word HAVING sum(change) <> 0 LOOP
        INSERT INTO SCHEMA.words AS known VALUES (one.word, one.change)
        ON CONFLICT (word) DO UPDATE SET uses = known.uses + excluded.uses;
        IF one.change < 0 THEN
            DELETE FROM SCHEMA.words WHERE word = one.word AND uses <= 0;
        END IF;
    END LOOP;
    FOR one IN SELECT topic FROM SCHEMA.topic_changes LOOP
        UPDATE SCHEMA.topics AS own SET search = SCHEMA.document(own.id, c.body->>'number_of_type')
        FROM SCHEMA.credentials AS c WHERE own.id = one.topic AND c.id = own.main;
    END LOOP;
    FOR one IN SELECT facet FROM SCHEMA.facet_changes LOOP
        IF NOT EXISTS (SELECT FROM SCHEMA.tokens WHERE facet = one.facet) THEN
            DELETE FROM SCHEMA.facets WHERE id = one.facet;
        END IF;
    END LOOP;
    DELETE FROM SCHEMA.facet_changes;
    DELETE FROM SCHEMA.word_changes;
    DELETE FROM SCHEMA.topic_changes;
END $$;

CREATE FUNCTION SCHEMA.apply(changes jsonb, reached text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    change jsonb;
    of_topic bigint;
BEGIN
    FOR change IN SELECT jsonb_array_elements(changes) LOOP
        IF change ? 'enter' THEN
            PERFORM SCHEMA.enter(change->'enter');
        ELSIF change ? 'remove' THEN
            PERFORM SCHEMA.remove((change->>'remove')::bigint);
        ELSE
            UPDATE SCHEMA.credentials SET revoked = coalesce(revoked, (change->>'at')::bigint)
            WHERE id = (change->>'revoke')::bigint RETURNING topic INTO of_topic;
            IF FOUND THEN
                PERFORM SCHEMA.choose_main(of_topic);
            END IF;
        END IF;
    END LOOP;
    PERFORM SCHEMA.finish();
    IF reached IS NOT NULL THEN
        INSERT INTO SCHEMA.state VALUES (1, reached) ON CONFLICT (one) DO UPDATE SET cursor = reached;
    END IF;
END $$;
