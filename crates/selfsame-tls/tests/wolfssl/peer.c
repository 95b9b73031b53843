/* One end of TLS 1.3 connections by wolfSSL. It reads its plan as arguments: `server` or `client`, a port, a folder with
 * ca.pem and, if it has an identity, cert.pem and key.pem, and then any of these words:
 *   asks     the server requires a certificate
 *   nothing  the client shows no certificate
 *   again    the client's first hello has no key share, so that a second one is needed
 *   renews   it renews its keys before it says anything
 *   twice    there are two connections, of which the second resumes
 * As a server it prints the port it was given by the system. Both ends exchange a line; then they print what they heard,
 * the peer's certificate and whether they resumed, or that the handshake failed. */

#include <wolfssl/options.h>
#include <wolfssl/ssl.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int words;
static char **word;

static int planned(const char *what) {
    for (int at = 4; at < words; at++) {
        if (strcmp(word[at], what) == 0) return 1;
    }
    return 0;
}

static void need(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "wolfSSL's end: %s\n", what);
    exit(1);
}

static WOLFSSL_CTX *context(int serves, const char *folder) {
    WOLFSSL_METHOD *method = serves ? wolfTLSv1_3_server_method() : wolfTLSv1_3_client_method();
    WOLFSSL_CTX *ctx = wolfSSL_CTX_new(method);
    need(ctx != NULL && chdir(folder) == 0, "no context or no folder");
    need(wolfSSL_CTX_load_verify_locations(ctx, "ca.pem", NULL) == WOLFSSL_SUCCESS, "ca.pem");
    int verify = WOLFSSL_VERIFY_PEER | WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    wolfSSL_CTX_set_verify(ctx, serves && !planned("asks") ? WOLFSSL_VERIFY_NONE : verify, NULL);
    if (planned("nothing")) return ctx;
    need(wolfSSL_CTX_use_certificate_file(ctx, "cert.pem", WOLFSSL_FILETYPE_PEM) == WOLFSSL_SUCCESS, "cert.pem");
    need(wolfSSL_CTX_use_PrivateKey_file(ctx, "key.pem", WOLFSSL_FILETYPE_PEM) == WOLFSSL_SUCCESS, "key.pem");
    return ctx;
}

static void say_peer(WOLFSSL *ssl) {
    WOLFSSL_X509_CHAIN *chain = wolfSSL_get_peer_chain(ssl);
    int size = wolfSSL_get_chain_count(chain) > 0 ? wolfSSL_get_chain_length(chain, 0) : 0;
    const unsigned char *der = size > 0 ? wolfSSL_get_chain_cert(chain, 0) : NULL;
    printf("peer ");
    for (int at = 0; at < size; at++) printf("%02x", der[at]);
    printf("\n");
}

static int say_refused(WOLFSSL *ssl, int result) {
    char text[WOLFSSL_MAX_ERROR_SZ];
    printf("refused %s\n", wolfSSL_ERR_error_string((unsigned long)wolfSSL_get_error(ssl, result), text));
    return 0;
}

/* Says its line, and prints the other's; nothing more is said of a connection that failed. */
static int converse(WOLFSSL *ssl) {
    char heard[64];
    int size = 0, read = 0;
    if (planned("renews")) need(wolfSSL_update_keys(ssl) == WOLFSSL_SUCCESS, "the keys are not renewed");
    read = wolfSSL_write(ssl, "from wolfSSL\n", 13);
    while (read > 0 && size < 63 && (size == 0 || heard[size - 1] != '\n')) {
        read = wolfSSL_read(ssl, heard + size, 1);
        if (read > 0) size++;
    }
    if (read <= 0) return say_refused(ssl, read);
    heard[size] = 0;
    printf("heard %s", heard);
    say_peer(ssl);
    printf("resumed %s\n", wolfSSL_session_reused(ssl) ? "yes" : "no");
    return 1;
}

static void connection(WOLFSSL_CTX *ctx, int socket, int serves, WOLFSSL_SESSION **session) {
    WOLFSSL *ssl = wolfSSL_new(ctx);
    need(ssl != NULL && wolfSSL_set_fd(ssl, socket) == WOLFSSL_SUCCESS, "no connection");
    if (!serves) {
        wolfSSL_check_domain_name(ssl, "server.example");
        need(wolfSSL_UseSNI(ssl, WOLFSSL_SNI_HOST_NAME, "server.example", 14) == WOLFSSL_SUCCESS, "no server name");
        if (planned("again")) need(wolfSSL_NoKeyShares(ssl) == WOLFSSL_SUCCESS, "no hello without a share");
        if (*session != NULL) need(wolfSSL_set_session(ssl, *session) == WOLFSSL_SUCCESS, "the session is not taken");
    }
    int result = serves ? wolfSSL_accept(ssl) : wolfSSL_connect(ssl);
    if (result != WOLFSSL_SUCCESS) {
        say_refused(ssl, result);
    } else if (converse(ssl)) {
        *session = wolfSSL_get1_session(ssl);
        wolfSSL_shutdown(ssl);
    }
    fflush(stdout);
    wolfSSL_free(ssl);
    close(socket);
}

int main(int count, char **arguments) {
    words = count;
    word = arguments;
    need(count >= 4, "it wants server or client, a port and a folder");
    int serves = strcmp(arguments[1], "server") == 0;
    WOLFSSL_SESSION *session = NULL;
    wolfSSL_Init();
    WOLFSSL_CTX *ctx = context(serves, arguments[3]);
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[2]))};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    int listener = -1;
    if (serves) {
        listener = socket(AF_INET, SOCK_STREAM, 0);
        need(bind(listener, (struct sockaddr *)&place, size) == 0 && listen(listener, 2) == 0, "it cannot listen");
        getsockname(listener, (struct sockaddr *)&place, &size);
        printf("port %d\n", ntohs(place.sin_port));
        fflush(stdout);
    }
    for (int times = planned("twice") ? 2 : 1; times > 0; times--) {
        int stream = serves ? accept(listener, NULL, NULL) : socket(AF_INET, SOCK_STREAM, 0);
        need(stream >= 0, "no socket");
        need(serves || connect(stream, (struct sockaddr *)&place, size) == 0, "nobody listens");
        connection(ctx, stream, serves, &session);
    }
    return 0;
}
