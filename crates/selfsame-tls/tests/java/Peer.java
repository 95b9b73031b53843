// One end of a TLS 1.3 connection by Java's own stack (JSSE). It reads its plan as arguments:
// `server` or `client`, a port, and a folder with ca.pem and, if it has an identity, cert.pem and key.pem.
// As a server it prints the port it was given by the system. Both ends exchange a line and print what they heard, the
// subject's encoding of the peer's certificate, and whether the handshake failed.

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

public final class Peer {
    private static final char[] NO_PASSWORD = "unused".toCharArray();

    public static void main(String[] arguments) throws Exception {
        boolean serves = arguments[0].equals("server");
        int port = Integer.parseInt(arguments[1]);
        SSLContext context = context(Path.of(arguments[2]));
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        if (!serves) {
            try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(loopback, port)) {
                converse(socket);
            }
            return;
        }
        try (SSLServerSocket listener =
                (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0, 1, loopback)) {
            listener.setNeedClientAuth(arguments.length > 3 && arguments[3].equals("asks"));
            say("port", Integer.toString(listener.getLocalPort()));
            try (SSLSocket socket = (SSLSocket) listener.accept()) {
                converse(socket);
            }
        }
    }

    private static void converse(SSLSocket socket) throws Exception {
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setProtocols(new String[] {"TLSv1.3"});
        socket.setSSLParameters(parameters);
        try {
            socket.startHandshake();
            OutputStream output = socket.getOutputStream();
            output.write("from Java\n".getBytes(StandardCharsets.US_ASCII));
            output.flush();
            say("heard", line(socket.getInputStream()));
            say("peer", peer(socket));
        } catch (SSLException refused) {
            say("refused", refused.getMessage());
        }
    }

    private static String line(InputStream input) throws Exception {
        StringBuilder heard = new StringBuilder();
        for (int one = input.read(); one >= 0 && one != '\n'; one = input.read()) {
            heard.append((char) one);
        }
        return heard.toString();
    }

    private static String peer(SSLSocket socket) throws Exception {
        try {
            return HexFormat.of().formatHex(socket.getSession().getPeerCertificates()[0].getEncoded());
        } catch (SSLPeerUnverifiedException nobody) {
            return "";
        }
    }

    private static SSLContext context(Path folder) throws Exception {
        KeyStore trusted = empty();
        trusted.setCertificateEntry("authority", certificate(folder.resolve("ca.pem")));
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        KeyStore own = empty();
        if (Files.exists(folder.resolve("cert.pem"))) {
            Certificate[] chain = {certificate(folder.resolve("cert.pem"))};
            PrivateKey key = key(folder.resolve("key.pem"), chain[0].getPublicKey().getAlgorithm());
            own.setKeyEntry("own", key, NO_PASSWORD, chain);
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance("NewSunX509");
        keys.init(own, NO_PASSWORD);
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static KeyStore empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }

    private static Certificate certificate(Path file) throws Exception {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        return factory.generateCertificate(new ByteArrayInputStream(Files.readAllBytes(file)));
    }

    private static PrivateKey key(Path file, String algorithm) throws Exception {
        String text = Files.readString(file).replaceAll("-----[A-Z ]+-----|\\s", "");
        PKCS8EncodedKeySpec encoded = new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text));
        return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
    }

    private static void say(String what, String value) {
        System.out.println(what + " " + value);
        System.out.flush();
    }
}
