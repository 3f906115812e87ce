package peer

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// streamed is a file stream of a NATS server inside this process, which is reached
// without a network.
type streamed struct {
	server *server.Server
	conn   *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
}

const subject = "messages"

// JetStream starts a NATS server with a file store that syncs each message, or none.
func JetStream(dir string, d Durability) (Log, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "bench", DontListen: true, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: dir, SyncAlways: d == Synced, SyncInterval: time.Hour,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, errors.New("the NATS server does not get ready")
	}
	l := &streamed{server: s}
	if err := l.connect(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *streamed) connect() (err error) {
	if l.conn, err = nats.Connect("", nats.InProcessServer(l.server)); err != nil {
		return err
	}
	if l.js, err = jetstream.New(l.conn); err != nil {
		return err
	}
	l.stream, err = l.js.CreateStream(context.Background(), jetstream.StreamConfig{
		Name: subject, Subjects: []string{subject}, Storage: jetstream.FileStorage,
	})
	return err
}

func (l *streamed) Append(n uint64) error {
	_, err := l.js.Publish(context.Background(), subject, prose.Line(n))
	return err
}

func (l *streamed) Count() (int, error) {
	info, err := l.stream.Info(context.Background())
	if err != nil {
		return 0, err
	}
	return int(info.State.Msgs), nil
}

func (l *streamed) Close() error {
	if l.conn != nil {
		l.conn.Close()
	}
	l.server.Shutdown()
	l.server.WaitForShutdown()
	return nil
}
