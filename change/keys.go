package change

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/settings"
)

// pemType is the kind of PEM block that has a private key, as openssl writes it.
const pemType = "PRIVATE KEY"

// maxKey is how many bytes of a key file are read.
const maxKey = 64 << 10

// MakeKey makes a key pair for the state. The private key goes to a new file that only the
// user can read; the public key is returned as the settings have it.
func MakeKey(name string) (public string, err error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", cli.Invalid(fmt.Errorf("writing the private key: %w", err))
	}
	err = errors.Join(pem.Encode(f, &pem.Block{Type: pemType, Bytes: der}), f.Sync(), f.Close())
	if err != nil {
		return "", fmt.Errorf("writing the private key: %w", err)
	}
	return PublicKey(key), nil
}

// PublicKey returns the public key of a private key, as the settings have it.
func PublicKey(key ed25519.PrivateKey) string {
	return settings.PublicKeyText(key.Public().(ed25519.PublicKey))
}

// SigningKey returns the public key of the private key that [KeyVariable] names, as the
// settings have it; "" if it names none.
func SigningKey(env cli.Env) (string, error) {
	key, err := privateKey(env)
	if key == nil || err != nil {
		return "", err
	}
	return PublicKey(key), nil
}

// readKey reads a private key from a file. Its errors show nothing of the file.
func readKey(name string) (ed25519.PrivateKey, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKey))
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != pemType {
		return nil, errors.New("it is no private key as planner keygen makes it")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("it is no private Ed25519 key as planner keygen makes it")
	}
	return key, nil
}
