// Go's own TLS as the other end of a test: one object of JSON in, one line of JSON for each connection out.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"
)

const patience = 60 * time.Second

// plan says which end is played, and how.
type plan struct {
	Role        string
	Port        int
	Name        string
	Authority   string // PEM
	Certificate string // PEM, or empty for none
	Key         string // PEM
	AsksClients bool
	Groups      []tls.CurveID // preferences, or none for Go's own
	Connections int           // one after the other, each resuming the one before if it can
}

// answer says what came of one connection.
type answer struct {
	Port    int    `json:"port,omitempty"`
	Error   string `json:"error,omitempty"`
	Resumed bool   `json:"resumed"`
	Suite   uint16 `json:"suite"`
	Peer    string `json:"peer"` // the other's own certificate, in hexadecimal
	Heard   string `json:"heard"`
}

func tell(said answer) {
	line, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func (p plan) config() (*tls.Config, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(p.Authority)) {
		return nil, fmt.Errorf("no authority")
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS13,
		ServerName:         p.Name,
		RootCAs:            pool,
		ClientCAs:          pool,
		CurvePreferences:   p.Groups,
		ClientSessionCache: tls.NewLRUClientSessionCache(4),
	}
	if p.AsksClients {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	if p.Certificate != "" {
		own, err := tls.X509KeyPair([]byte(p.Certificate), []byte(p.Key))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// speak shakes hands, says a line and hears one, the client first, and ends.
func speak(conn *tls.Conn, isClient bool) answer {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if err := conn.Handshake(); err != nil {
		return answer{Error: err.Error()}
	}
	reader := bufio.NewReader(conn)
	say := func() error {
		_, err := conn.Write([]byte("from Go\n"))
		return err
	}
	if isClient {
		if err := say(); err != nil {
			return answer{Error: err.Error()}
		}
	}
	heard, err := reader.ReadString('\n')
	if err == nil && !isClient {
		err = say()
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	state := conn.ConnectionState()
	said := answer{Resumed: state.DidResume, Suite: state.CipherSuite, Heard: heard}
	if len(state.PeerCertificates) > 0 {
		said.Peer = hex.EncodeToString(state.PeerCertificates[0].Raw)
	}
	return said
}

func (p plan) play() error {
	config, err := p.config()
	if err != nil {
		return err
	}
	if p.Role == "client" {
		for i := 0; i < p.Connections; i++ {
			dialer := &net.Dialer{Timeout: patience}
			stream, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.Port))
			if err != nil {
				return err
			}
			tell(speak(tls.Client(stream, config), true))
		}
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	tell(answer{Port: listener.Addr().(*net.TCPAddr).Port})
	for i := 0; i < p.Connections; i++ {
		stream, err := listener.Accept()
		if err != nil {
			return err
		}
		tell(speak(tls.Server(stream, config), false))
	}
	return nil
}

func main() {
	var p plan
	err := json.NewDecoder(os.Stdin).Decode(&p)
	if err == nil {
		err = p.play()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
