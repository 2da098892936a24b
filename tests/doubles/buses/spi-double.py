# An spi device for programs that open /dev/spidev0.0: answers every transfer with each byte + 1. umockdev-wrapper python3 spi-double.py COMMAND.
import gi, os, sys, subprocess, threading
gi.require_version('UMockdev', '1.0'); from gi.repository import UMockdev, GLib
import struct
class Spi(UMockdev.IoctlBase):
    def do_handle_ioctl(self, client):
        req, arg = client.get_request(), client.get_arg(); nr, size = req & 0xff, (req >> 16) & 0x3fff
        try:
            if nr == 0:                                   # SPI_IOC_MESSAGE(n): n * spi_ioc_transfer (32 bytes)
                m = arg.resolve(0, size)
                for i in range(size // 32):
                    b = bytes(m.retrieve())[i * 32:(i + 1) * 32]; tx, rx, n = struct.unpack('<QQI', b[:20])
                    data = bytes(m.resolve(i * 32, n).retrieve()) if tx else bytes(n)
                    if rx: m.resolve(i * 32 + 8, n).update(0, [(x + 1) & 255 for x in data])
                client.complete(sum(struct.unpack('<I', bytes(m.retrieve())[i * 32 + 16:i * 32 + 20])[0] for i in range(size // 32)), 0)
            else: client.complete(0, 0)                   # mode, bits, speed
        except Exception as e: print('double:', repr(e), file=sys.stderr); client.complete(-1, 5)
        return True
tb = UMockdev.Testbed.new(); tb.add_from_string('P: /devices/spi0\nN: spidev0.0\nE: DEVNAME=/dev/spidev0.0\nE: SUBSYSTEM=spidev\nA: dev=153:0\n\n'); spi = Spi(); tb.attach_ioctl('/dev/spidev0.0', spi)
loop = GLib.MainLoop(); threading.Thread(target=loop.run, daemon=True).start(); r = subprocess.run(sys.argv[1:], timeout=30); os._exit(r.returncode)
