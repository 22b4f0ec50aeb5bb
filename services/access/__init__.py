"""Who comes in, and how it is proved: NKeys, players' credentials, certificates, and the folder that holds them."""
